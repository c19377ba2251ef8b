"""Elements of untrusted XML documents: a bounded tree, without a document type, accessed by local names."""

from __future__ import annotations

from io import BytesIO
from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from batsched_py.experiments.faults import DescriptorSyntaxError
from batsched_py.text.display import displayed

#: Maximum depth of elements; the deepest format needs seven.
_DEEPEST: Final = 20


def read_tree(file: str, content: bytes) -> Element:
    """Return the root element; a document type and entities are refused."""
    depth = 0
    root: Element | None = None
    events = iterparse(BytesIO(content), ("start", "end"), forbid_dtd=True)
    try:
        for event, element in events:
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            if depth > _DEEPEST:
                raise DescriptorSyntaxError(file, "", f"must not nest deeper than {_DEEPEST} levels")
    except DefusedXmlException:
        raise DescriptorSyntaxError(file, "", "must not have a document type, or define or fetch entities") from None
    except (ParseError, LookupError, ValueError) as error:
        raise DescriptorSyntaxError(file, "", f"is not XML: {displayed(str(error))}") from None
    assert root is not None  # noqa: S101  # else it is a ParseError
    return root


def local_name(tag: str) -> str:
    """Return a name without its namespace."""
    return tag.rpartition("}")[2]


def attributes_of(element: Element) -> dict[str, str]:
    """Return attributes by their local names."""
    return {local_name(name): value for name, value in element.attrib.items()}
