"""XML documents from outside: a tree of bounded depth, and one wording of what is wrong with their syntax."""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException, DTDForbidden
from defusedxml.ElementTree import fromstring

from batsched_py.text.display import displayed

#: What a parser of `defusedxml` raises for text that is not XML, or not allowed.
XML_ERRORS: Final = (DefusedXmlException, ParseError, LookupError, ValueError)


def parse_root(content: bytes, deepest: int, *, document_type: bool = False) -> Element:
    """Return the root element, which has at most `deepest` levels of elements; ValueError with the rule.

    Entities are refused; a document type is refused or, with `document_type`, accepted and not fetched.
    """
    try:
        root = fromstring(content, forbid_dtd=not document_type, forbid_entities=True, forbid_external=True)
    except XML_ERRORS as error:
        raise ValueError(xml_rule(error)) from None  # the caller names the file
    level = [root]
    for _ in range(deepest):
        level = [child for element in level for child in element]
        if not level:
            return root
    raise ValueError(f"must not nest deeper than {deepest} levels")


def xml_rule(error: Exception) -> str:
    """Return the rule that a document breaks, given one of XML_ERRORS."""
    if isinstance(error, DTDForbidden):
        return "must not have a document type"
    if isinstance(error, DefusedXmlException):
        return "must not define or fetch entities"
    return f"is not XML: {displayed(str(error))}"
