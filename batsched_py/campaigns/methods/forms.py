"""Forms of a text for a paper: LaTeX with natbib or biblatex, and Markdown with citations as pandoc reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from batsched_py.errors import OptionError
from batsched_py.text.display import displayed
from batsched_py.text.latex import latex

#: Characters of a word after which LaTeX may begin a new line, in words as long as hashes.
_PIECE: Final = 8
_LONG: Final = re.compile(r"[0-9a-f]{32,}")
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|~^])")


class PaperForm:
    """A form of a text: functions that return its parts, from plain text."""

    #: The suffix of its files.
    suffix: ClassVar[str]

    def text(self, plain: str) -> str:
        """Return plain text."""
        raise NotImplementedError

    def code(self, plain: str) -> str:
        """Return plain text in a typewriter font."""
        raise NotImplementedError

    def cite(self, keys: Sequence[str]) -> str:
        """Return a citation, with a blank before it; "" without keys."""
        raise NotImplementedError

    def paragraph(self, title: str, sentences: Sequence[str]) -> str:
        """Return a paragraph of sentences in this form, with a title."""
        raise NotImplementedError


class Latex(PaperForm):
    """LaTeX without packages."""

    suffix = ".tex"

    def text(self, plain: str) -> str:
        """Return escaped text."""
        return latex(displayed(plain)).replace("|", r"\textbar{}").replace("<", "$<$").replace(">", "$>$")

    def code(self, plain: str) -> str:
        """Return escaped text in a typewriter font, where lines may break after a slash and in hashes."""
        text = self.text(plain).replace("/", r"/\allowbreak{}")
        return rf"\texttt{{{_LONG.sub(_with_breaks, text)}}}"

    def cite(self, keys: Sequence[str]) -> str:
        """Return a citation, which does not begin a line."""
        return rf"~\cite{{{','.join(keys)}}}" if keys else ""

    def paragraph(self, title: str, sentences: Sequence[str]) -> str:
        """Return a paragraph, a sentence on each line."""
        return "\n".join([rf"\paragraph{{{self.text(title)}.}}", *sentences, ""])


class Markdown(PaperForm):
    """Markdown, with the citations of pandoc."""

    suffix = ".md"

    def text(self, plain: str) -> str:
        """Return escaped text."""
        return _MARKDOWN.sub(r"\\\1", displayed(plain))

    def code(self, plain: str) -> str:
        """Return a code span; text that has a backtick is escaped instead."""
        shown = displayed(plain)
        return self.text(plain) if "`" in shown else f"`{shown}`"

    def cite(self, keys: Sequence[str]) -> str:
        """Return a citation in brackets."""
        return f" [{'; '.join(f'@{key}' for key in keys)}]" if keys else ""

    def paragraph(self, title: str, sentences: Sequence[str]) -> str:
        """Return a paragraph, a sentence on each line."""
        return "\n".join([f"**{self.text(title)}.**", *sentences, ""])


#: Suffix of a file -> its form.
FORMS: Final = {form.suffix: form for form in (Latex(), Markdown())}


def _with_breaks(found: re.Match[str]) -> str:
    """Return a long word with places for breaks."""
    word = found[0]
    return r"\allowbreak{}".join(word[first : first + _PIECE] for first in range(0, len(word), _PIECE))


def form_of(path: Path) -> PaperForm:
    """Return the form that a file's name asks for. OptionError for another suffix than .tex or .md."""
    if path.suffix not in FORMS:
        raise OptionError(f"{displayed(str(path))}: must end with .tex or .md")
    return FORMS[path.suffix]
