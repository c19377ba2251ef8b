"""Something more in an input: a member, an attribute, an element, a column, a directive, an option, each in each place.

Also something twice, which formats treat in ways of their own. Additions have a label that names their place.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, Final
from xml.etree import ElementTree

#: A name that no format has, and that is like none.
ADDED: Final = "zz_added"
#: A place, and the input with the addition.
Addition = tuple[str, bytes]
Additions = Callable[[bytes], Iterator[Addition]]
#: What is added to objects: readers may look at one kind of value only.
_VALUES: Final[tuple[Any, ...]] = (7, "text", {"inner": [1]})
#: Elements of a list that are looked into: the others are like them.
_FIRST: Final = 3


def json_members(content: bytes) -> Iterator[Addition]:
    """Yield the document with a member more, in each object."""
    document = json.loads(content)
    for place in _objects(document):
        for value in _VALUES:
            changed = copy.deepcopy(document)
            _at(changed, place)[ADDED] = value
            yield f"{_name(place)}.{ADDED}={value!r}", json.dumps(changed, indent=1).encode()


def json_twice(content: bytes) -> Iterator[Addition]:
    """Yield the document with a member twice, in each object: the first of it, with another value."""
    document = json.loads(content)
    for place in _objects(document):
        inner = _at(document, place)
        if inner:
            name = next(iter(inner))
            changed = copy.deepcopy(document)
            _at(changed, place)[ADDED] = "another"
            text = json.dumps(changed, indent=1)
            yield f"{_name(place)}: {name} twice", text.replace(json.dumps(ADDED), json.dumps(name)).encode()


def json_lines(content: bytes) -> Iterator[Addition]:
    """Yield the lines of JSON with a member more, in each object of each line."""
    lines = content.splitlines()
    for number, line in enumerate(lines[:_FIRST]):
        for label, changed in json_members(line):
            flat = json.dumps(json.loads(changed), separators=(",", ":")).encode()
            yield f"line {number + 1} {label}", b"\n".join([*lines[:number], flat, *lines[number + 1 :], b""])


def xml_parts(content: bytes) -> Iterator[Addition]:
    """Yield the document with an attribute more and with an element more, in the first of each kind of element."""
    for tag in _tags(content):
        for what in ("attribute", "element"):
            root = ElementTree.fromstring(content)
            element = next(root.iter(tag))
            if what == "attribute":
                element.set(ADDED, "7")
            else:
                ElementTree.SubElement(element, ADDED)
            yield f"{what} in {tag}", ElementTree.tostring(root)


def xml_texts(content: bytes) -> Iterator[Addition]:
    """Yield the document with a text more, at the beginning of each kind of element."""
    for tag in _tags(content):
        root = ElementTree.fromstring(content)
        element = next(root.iter(tag))
        element.text = f"{ADDED} {element.text or ''}"
        yield f"text in {tag}", ElementTree.tostring(root)


def columns(separator: str) -> Additions:
    """Yield the table with a column more, at the end and at the beginning."""

    def added(content: bytes) -> Iterator[Addition]:
        header, *rows = content.decode().splitlines()
        for value in ("7", "text"):
            behind = [f"{header}{separator}{ADDED}", *(f"{row}{separator}{value}" for row in rows)]
            yield f"last column of {value}", "\n".join([*behind, ""]).encode()
            before = [f"{ADDED}{separator}{header}", *(f"{value}{separator}{row}" for row in rows)]
            yield f"first column of {value}", "\n".join([*before, ""]).encode()

    return added


def column_twice(separator: str) -> Additions:
    """Yield the table with each column twice; the second has another value."""

    def added(content: bytes) -> Iterator[Addition]:
        header, *rows = content.decode().splitlines()
        for name in header.split(separator):
            yield (
                f"column {name} twice",
                "\n".join([f"{header}{separator}{name}", *(f"{row}{separator}1" for row in rows), ""]).encode(),
            )

    return added


def fields(content: bytes) -> Iterator[Addition]:
    """Yield the log with a field more in each line, in the last one, and with one directive more."""
    lines = content.decode().splitlines()
    yield "field in each line", "\n".join([*(line if line[0] == ";" else f"{line} 7" for line in lines), ""]).encode()
    yield "field in the last line", "\n".join([*lines[:-1], f"{lines[-1]} 7", ""]).encode()
    yield "directive", f"; {ADDED}: 7\n".encode() + content


def ini_options(content: bytes) -> Iterator[Addition]:
    """Yield the configuration with an option more in each section, and with a section more."""
    lines = content.decode().splitlines()
    for number, line in enumerate(lines):
        if line.startswith("["):
            changed = [*lines[: number + 1], f"{ADDED} = 7", *lines[number + 1 :], ""]
            yield f"option in {line}", "\n".join(changed).encode()
    yield "section", "\n".join([*lines, f"[{ADDED}]", "a = 7", ""]).encode()


def ini_twice(content: bytes) -> Iterator[Addition]:
    """Yield the configuration with the first option of each section twice, and with each section twice."""
    lines = content.decode().splitlines()
    for number, line in enumerate(lines):
        if line.startswith("["):
            name = next((there for there in lines[number + 1 :] if there and there[0].isalpha()), "")
            if name:
                changed = [*lines, "", line, name, ""]
                yield f"section {line} twice", "\n".join(changed).encode()


def toml_members(content: bytes) -> Iterator[Addition]:
    """Yield the document with a member more at its top and in each table, and with a table more."""
    lines = content.decode().splitlines()
    yield "at the top", "\n".join([f"{ADDED} = 7", *lines, ""]).encode()
    for number, line in enumerate(lines):
        if line.startswith("["):
            changed = [*lines[: number + 1], f"{ADDED} = 7", *lines[number + 1 :], ""]
            yield f"line {number + 1}, {line}", "\n".join(changed).encode()
        elif "{ " in line:
            changed = [*lines[:number], line.replace("{ ", f"{{ {ADDED} = 7, ", 1), *lines[number + 1 :], ""]
            yield f"line {number + 1}, inner table", "\n".join(changed).encode()
    yield "table", "\n".join([*lines, f"[{ADDED}]", "a = 7", ""]).encode()


def _tags(content: bytes) -> list[str]:
    return sorted({element.tag for element in ElementTree.fromstring(content).iter()})


def _objects(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each object inside; of lists the first elements only."""
    if isinstance(value, dict):
        yield place
        for name, inner in value.items():
            yield from _objects(inner, (*place, name))
    elif isinstance(value, list):
        for position, inner in enumerate(value[:_FIRST]):
            yield from _objects(inner, (*place, position))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


def _name(place: tuple[Any, ...]) -> str:
    return ".".join(map(str, place)) or "document"
