"""Pictures for papers and notebooks, drawn by matplotlib, which is loaded on first use."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final
from warnings import catch_warnings, simplefilter

from batsched_py.errors import OptionError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.loading import require
from batsched_py.text.display import displayed

#: Formats of pictures, by file name suffix.
FORMATS: Final = ("pdf", "svg", "png")


class Picture:
    """A picture, to show in a notebook or to `save`; the same picture gives the same bytes.

    Attributes:
        figure: the figure of matplotlib; it may be changed before the picture is shown or saved.
        cautions: a line for each defect of the last rendering.
    """

    def __init__(self, figure: Any) -> None:
        self.figure, self.cautions = figure, list[str]()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture atomically, and return its path. OptionError for another suffix than FORMATS."""
        path = Path(path)
        write_atomically(path, self.content(form_of(path)))
        return path

    def content(self, form: str) -> bytes:
        """Return the content of a file in one of FORMATS. OptionError for another format."""
        if form not in FORMATS:
            raise OptionError(f"the name of a picture must end with .pdf, .svg or .png, not .{displayed(form)}")
        paper = _module("style")
        with paper.style(), catch_warnings(record=True) as caught:
            simplefilter("always", UserWarning)
            content: bytes = paper.saved(self.figure, form)
        self.cautions = list(
            dict.fromkeys(str(one.message) for one in caught)
        )  # characters that the font does not have
        return content

    def _repr_png_(self) -> bytes:
        return self.content("png")


def form_of(path: Path) -> str:
    """Return the format of a file from its suffix."""
    return path.suffix.lower().removeprefix(".")


def draw(use: str, module: str, make: Callable[[Any], Any]) -> Picture:
    """Draw the figure that `make` returns, given a module of reporting.pictures.paper.

    ExtraError, which names the feature `use`, if matplotlib is not installed.
    """
    require("matplotlib", use, "plot")
    logging.getLogger("matplotlib.font_manager").addFilter(_is_lasting)
    style, paper = _module("style").style, _module(module)
    with style():
        return Picture(make(paper))


def _is_lasting(record: logging.LogRecord) -> bool:
    """Return False for the message that fonts are being listed, which only comes once, on a slow machine."""
    return "building the font cache" not in record.getMessage()


def _module(name: str) -> Any:
    """Load a module of reporting.pictures.paper, which is slow to import and needs an extra."""
    return importlib.import_module(f"batsched_py.reporting.pictures.paper.{name}")
