"""An element of a platform file: reads attributes by their rules, and names itself in errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element as XmlElement
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from msgspec import Struct

from batsched_py.bounded_file import read_file, reported
from batsched_py.errors import PlatformError
from batsched_py.model.limits import Limits
from batsched_py.traces.quantity import Dimension, parse_quantity


class Element(Struct, frozen=True):
    """An XML element and the name of its file, for messages."""

    file: str
    xml: XmlElement

    @property
    def tag(self) -> str:
        """Return the element's name."""
        return self.xml.tag

    def children(self, *tags: str) -> Iterator[Element]:
        """Yield the elements directly inside, in the file's order; only those of these tags, if any is given."""
        for child in self.xml:
            if not tags or child.tag in tags:
                yield Element(self.file, child)

    def error(self, attribute: str, rule: str) -> PlatformError:
        """Return an error with the file, this element by its `id` (or its ends), the attribute and the rule."""
        name = self.xml.get("id") or "-".join(filter(None, (self.xml.get("src"), self.xml.get("dst"))))
        where = f"{self.tag} {name}" if name else self.tag
        return PlatformError(self.file, f"{where}.{attribute}" if attribute else where, rule)

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
        """Read one of the allowed words."""
        value = self.text(attribute, default)
        if value not in allowed:
            raise self.error(attribute, f"must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def number(self, attribute: str, default: int, least: int) -> int:
        """Read a whole number, not below `least`."""
        text = self.text(attribute, str(default))
        number = whole_number(text)
        if number is None or number < least:
            raise self.error(attribute, f"must be a whole number from {least}, not {text!r}")
        return number

    def quantity(self, attribute: str, dimension: Dimension, default: str | None = None) -> float:
        """Read a quantity from 0, in the dimension's base unit."""
        text = self.text(attribute, default)
        try:
            value = parse_quantity(text, dimension)
        except ValueError as error:
            raise self.error(attribute, str(error)) from error
        if value < 0:
            raise self.error(attribute, f"must not be negative, as {text!r} is")
        return value

    def positive(self, attribute: str, dimension: Dimension, default: str | None = None) -> float:
        """Read a quantity above 0, in the dimension's base unit."""
        value = self.quantity(attribute, dimension, default)
        if value == 0:
            raise self.error(attribute, "must be more than 0")
        return value

    def properties(self) -> dict[str, str]:
        """Return the `prop` elements directly inside, as Batsim forwards them."""
        return {prop.text("id"): prop.text("value") for prop in self.children("prop")}


def whole_number(text: str) -> int | None:
    """Convert a text of at most 18 decimal digits; None if it is another."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def read_root(path: Path, limits: Limits) -> Element:
    """Read the outermost element of an XML file. A document type is accepted and not fetched; entities are refused.

    Blanks before the XML declaration are accepted, as SimGrid does: files of Batsim's own experiments have them.
    """
    with reported(path, PlatformError):
        content = read_file(path, limits, encoded=True).lstrip()
    try:
        xml = fromstring(content, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except DefusedXmlException as error:
        raise PlatformError(str(path), "", "must not define or fetch entities") from error
    except (ParseError, LookupError, ValueError) as error:
        raise PlatformError(str(path), "", f"is not XML: {error}") from error
    return Element(str(path), xml)
