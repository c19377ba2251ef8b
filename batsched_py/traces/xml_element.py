"""Access to an element of a platform file: validated attributes, and errors with its name and place."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element as XmlElement

from msgspec import Struct

from batsched_py.errors import PlatformError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.reading.limits import DEEPEST, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reading.xml_document import parse_root
from batsched_py.text.display import shown
from batsched_py.traces.quantity import Dimension, parse_quantity


class Element(Struct, frozen=True):
    """An XML element.

    Attributes:
        file: the file's name, for messages.
        xml: the element itself.
        notes: receives a line for each part without effect.
    """

    file: str
    xml: XmlElement
    notes: Notes

    @property
    def tag(self) -> str:
        """Return the element's name."""
        return self.xml.tag

    def children(self, *tags: str) -> Iterator[Element]:
        """Yield the child elements in the file's order; only those with these tags, if any are given."""
        for child in self.xml:
            if not tags or child.tag in tags:
                yield Element(self.file, child, self.notes)

    def error(self, attribute: str, rule: str) -> PlatformError:
        """Return an error with the file, this element by its `id` (or its ends), the attribute and the rule."""
        where = self.name_of()
        return PlatformError(self.file, f"{where}.{attribute}" if attribute else where, rule)

    def name_of(self) -> str:
        """Return the element's name in messages: "host n0", "route a-b"."""
        name = self.xml.get("id") or "-".join(filter(None, (self.xml.get("src"), self.xml.get("dst"))))
        return f"{self.tag} {name}" if name else self.tag

    def text(self, attribute: str, default: str | None = None) -> str:
        """Return the attribute as written; PlatformError if it is absent and has no default."""
        value = self.xml.get(attribute, default)
        if value is None:
            raise self.error(attribute, "is missing")
        return value

    def name(self) -> str:
        """Return the attribute `id`, which must not be empty."""
        value = self.text("id")
        if not value:
            raise self.error("id", "must not be empty")
        return value

    def choice(self, attribute: str, allowed: tuple[str, ...], default: str) -> str:
        """Read an attribute with one of the allowed words."""
        value = self.text(attribute, default)
        if value not in allowed:
            raise self.error(attribute, f"must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def number(self, attribute: str, default: int, least: int) -> int:
        """Read a whole number, at least `least`, at the beginning of the text, as SimGrid does.

        The rest of the text is noted as without effect unless it is a zero fraction: the DTD's default for a pstate is
        "0.0".
        """
        text = self.text(attribute, str(default))
        match = _WHOLE.fullmatch(text)
        number = None if match is None else whole_number(match[1])
        if match is None or number is None or number < least:
            raise self.error(attribute, f"must be a whole number from {least}, not {shown(text)}")
        if match[2] and match[2].strip(".0"):
            what = f"attribute {attribute} of element {self.tag}: only the whole number is read, as by SimGrid"
            self.notes.add(what, f"{self.name_of()}, {text}")
        return number

    def quantity(self, attribute: str, dimension: Dimension, default: str | None = None) -> float:
        """Read a quantity of at least 0, in the dimension's base unit."""
        text = self.text(attribute, default)
        try:
            value = parse_quantity(text, dimension)
        except ValueError as error:
            raise self.error(attribute, str(error)) from error
        if value < 0:
            raise self.error(attribute, f"must not be negative, as {text!r} is")
        return value

    def optional(self, attribute: str, dimension: Dimension) -> float:
        """Read a quantity of at least 0; 0 if it is absent or empty, which is the DTD's default."""
        return self.quantity(attribute, dimension) if self.xml.get(attribute) else 0.0

    def positive(self, attribute: str, dimension: Dimension, default: str | None = None) -> float:
        """Read a quantity above 0, in the dimension's base unit."""
        value = self.quantity(attribute, dimension, default)
        if value == 0:
            raise self.error(attribute, "must be greater than 0")
        return value

    def coordinates(self) -> tuple[float, float, float]:
        """Read the attribute `coordinates`."""
        text = self.text("coordinates")
        try:
            x, y, height = (float(piece) for piece in text.split())
            if not math.isfinite(x + y + height):
                raise ValueError("a coordinate is not finite")
        except ValueError as error:
            rule = f"must be three numbers: x, y and height, not {shown(text)}"
            raise self.error("coordinates", rule) from error
        return x, y, height

    def properties(self) -> dict[str, str]:
        """Return the properties in child elements `prop`, as Batsim forwards them; of repeated names the first one."""
        properties: dict[str, str] = {}
        for prop in self.children("prop"):
            name, value = prop.text("id"), prop.text("value")
            if properties.setdefault(name, value) != value:
                what = f"a second element prop of one name in {self.tag} is not obeyed: the first counts, as in SimGrid"
                self.notes.add(what, f"{self.name_of()}, prop {name}")
        return properties


#: Maximum depth of elements: zones are bounded by a limit of their own, of at most DEEPEST.
_DEEPEST: Final = DEEPEST + 10
#: A whole number, and the rest of the text.
_WHOLE: Final = re.compile(r"\s*\+?(\d{1,18})(\D.*)?", re.ASCII | re.DOTALL)


def whole_number(text: str) -> int | None:
    """Convert a text of at most 18 decimal digits; None for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def read_root(path: Path, limits: Limits) -> Element:
    """Read the root element of an XML file. A document type is accepted and not fetched; entities are refused.

    Blanks before the XML declaration are accepted, as in SimGrid: files of Batsim's own experiments have them.
    """
    with reported(path, PlatformError):
        content = read_file(path, limits, encoded=True).lstrip()
    try:
        xml = parse_root(content, _DEEPEST, document_type=True)
    except ValueError as error:
        raise PlatformError(str(path), "", str(error)) from None
    return Element(str(path), xml, Notes(str(path)))
