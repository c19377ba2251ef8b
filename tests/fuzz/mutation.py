"""Hypothesis strategies that make something wrong in what is right: conversations, JSON, XML, tables of text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any
from xml.etree.ElementTree import Element, tostring

from defusedxml.ElementTree import fromstring
from hypothesis import strategies as st

from tests.unit.protocol.hostile import containers, damages, mutations

#: Values put in the place of a number, a set of hosts or a name.
TEXTS = st.sampled_from(
    [
        "", " ", "-1", "0", "-0.0", "1.5", "1e3", "1e308", "1e999", "5e-324", "nan", "inf", "-inf", "0x10", "1_000",
        "9" * 30, "9" * 400, "\u0663", "a\nb", "a\tb", "\x85", "\u2028", "=1+1", '"', ",", ";", "x" * 900, "None",
        "true", "0-3", "5-1", "1--2", "0-2147483648", "0:1:2", "2:3:4, 2:3:4", "100:200", "1Gf", "-1Gf", "1e-300MBps",
        "10ms", "1w", "%", "!", "w0!", "a!b!c", "../x", "/etc/passwd", "file.py:f", "SHARED", "wifi", "master",
        "storage", "{}", "[]", "//",
    ]
)  # fmt: skip


@st.composite
def wrong_json(draw: st.DrawFn, valid: Any) -> bytes:
    """A document with one or two members replaced, deleted, inserted or exchanged, or some bytes."""
    if draw(st.integers(0, 4)) == 0:
        return draw(damages(json.dumps(valid).encode()))
    changed = draw(mutations(valid))
    if draw(st.booleans()):
        _exchange(draw, changed)
    return json.dumps(changed).encode()


def _exchange(draw: st.DrawFn, document: Any) -> None:
    """A member gets what stands elsewhere: the right type more often than not."""
    there = [container for container in containers(document) if container]
    if there:
        source, target = draw(st.sampled_from(there)), draw(st.sampled_from(there))
        target[draw(_places(target))] = deepcopy(source[draw(_places(source))])


def _places(container: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(container) if isinstance(container, dict) else range(len(container)))


@st.composite
def conversations(draw: st.DrawFn, whole: Sequence[Sequence[bytes]]) -> bytes:
    """The beginning of one of these, a message a line, and something wrong in the last message, or in two.

    What is wrong with a message is its form, or that it tells what another conversation told elsewhere.
    """
    lines = list(draw(st.sampled_from(whole)))
    lines = lines[: draw(st.integers(1, len(lines)))]
    for position in sorted({len(lines) - 1, draw(st.integers(0, len(lines) - 1))}):
        message = json.loads(lines[position])
        deed = draw(st.sampled_from(["borrow", "change", "both"]))
        if deed != "change":
            _borrow(draw, message, json.loads(draw(st.sampled_from(draw(st.sampled_from(whole))))))
        changed = json.dumps(message).encode() if deed == "borrow" else draw(wrong_json(message))
        lines[position] = changed.replace(b"\n", b" ")
    return b"\n".join(lines)


def _borrow(draw: st.DrawFn, message: Any, other: Any) -> None:
    """Tell some events of another message, as of now."""
    for event in other["events"][: draw(st.integers(1, 3))]:
        place = draw(st.integers(0, len(message["events"])))
        message["events"].insert(place, {**event, "timestamp": message["now"]})


@st.composite
def wrong_lines(draw: st.DrawFn, valid: bytes) -> bytes:
    """JSON lines, as of a recording or of events: one is wrong, lost, said twice or exchanged with another."""
    lines = valid.splitlines()
    one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
    deed = draw(st.sampled_from(["change", "change", "change", "lose", "repeat", "exchange", "cut"]))
    if deed == "change":
        lines[one] = draw(wrong_json(json.loads(lines[one])))
    elif deed == "lose":
        del lines[one]
    elif deed == "repeat":
        lines.insert(other, lines[one])
    elif deed == "exchange":
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines[one] = lines[one][: draw(st.integers(0, len(lines[one])))]
    return b"\n".join(lines) + draw(st.sampled_from([b"\n", b""]))


@st.composite
def wrong_bytes(draw: st.DrawFn, valid: bytes) -> bytes:
    """An archive or another file that is no text: some bytes are others, or the end is missing."""
    content = bytearray(valid)
    for _ in range(draw(st.integers(1, 4))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content[: draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))])


@st.composite
def wrong_xml(draw: st.DrawFn, valid: bytes) -> bytes:
    """A document with one to three attributes or elements wrong, or some bytes."""
    if draw(st.integers(0, 4)) == 0:
        return draw(damages(valid))
    root = fromstring(valid)
    for _ in range(draw(st.integers(1, 3))):
        _change_element(draw, root)
    doctype = b'<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    written: bytes = tostring(root, encoding="utf-8")
    return doctype + written


def _change_element(draw: st.DrawFn, root: Element) -> None:
    elements = list(root.iter())
    element, other = draw(st.sampled_from(elements)), draw(st.sampled_from(elements))
    deed = draw(st.sampled_from(["set", "set", "set", "unset", "borrow", "lose", "repeat", "move", "rename"]))
    if deed == "set":
        names = [*element.attrib, *other.attrib, "x"]
        element.set(draw(st.sampled_from(names)), draw(TEXTS.map(_for_xml)))
    elif deed == "unset" and element.attrib:
        del element.attrib[draw(st.sampled_from(list(element.attrib)))]
    elif deed == "borrow" and other.attrib:
        element.set(*draw(st.sampled_from(list(other.attrib.items()))))
    elif deed == "lose" and len(element):
        element.remove(draw(st.sampled_from(list(element))))
    elif deed in ("repeat", "move") and len(element):
        piece = draw(st.sampled_from(list(element)))
        if deed == "move":
            element.remove(piece)
        other.insert(draw(st.integers(0, len(other))), deepcopy(piece))
    elif deed == "rename":
        element.tag = other.tag


def _for_xml(text: str) -> str:
    return text.replace("\x85", " ")


@st.composite
def wrong_table(draw: st.DrawFn, valid: bytes, separator: bytes) -> bytes:
    """Lines of cells: some cells are wrong, lost or too many; or some bytes."""
    if draw(st.integers(0, 5)) == 0:
        return draw(damages(valid))
    lines = [line.split(separator) for line in valid.splitlines()]
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.sampled_from(lines))
        if not row:
            continue
        place = draw(st.integers(0, len(row) - 1))
        deed = draw(st.sampled_from(["set", "set", "set", "lose", "repeat", "borrow"]))
        if deed == "set":
            row[place] = draw(TEXTS).encode()
        elif deed == "lose":
            del row[place]
        elif deed == "repeat":
            row.insert(place, row[place])
        else:
            row[place] = draw(st.sampled_from(draw(st.sampled_from([row, *(line for line in lines if line)]))))
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(lines)))
    return b"\n".join(separator.join(line) for line in lines) + b"\n"
