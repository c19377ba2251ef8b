"""XML documents: bounded, without entities."""

from __future__ import annotations

import pytest

from batsched_py.reading.xml_document import parse_root


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"<a", "is not XML: unclosed token"),
        (b'<?xml version="1.0" encoding="no-such"?><a/>', "is not XML: unknown encoding"),
        (b'<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', "must not have a document type"),
        (b"<!DOCTYPE a><a/>", "must not have a document type"),
        (b"<a>" * 100_000 + b"</a>" * 100_000, "must not nest deeper than 3 levels"),
    ],
)
def test_what_is_refused(content: bytes, rule: str) -> None:
    """In one line."""
    with pytest.raises(ValueError, match=f"^{rule}"):
        parse_root(content, 3)


def test_entities_are_refused_with_a_document_type() -> None:
    """Also where it is accepted."""
    with pytest.raises(ValueError, match=r"^must not define or fetch entities$"):
        parse_root(b'<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', 3, document_type=True)


def test_a_document_type_may_be_accepted() -> None:
    """It is not fetched."""
    root = parse_root(b'<!DOCTYPE a SYSTEM "http://nowhere.invalid/a.dtd"><a><b><c/></b></a>', 3, document_type=True)
    assert [element.tag for element in root.iter()] == ["a", "b", "c"]
