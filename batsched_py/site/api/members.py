"""Meanings of the members of bodies, from the docstrings of their classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct


def describe_bodies(schemas: dict[str, dict[str, Any]]) -> None:
    """Add to each body of a description, and to each of its members, the text that its docstring has for it.

    Args:
        schemas: The schemas of the bodies, by the names of their classes, which are unique in the package.
    """
    known = {one.__name__: one for one in _package_structs(Struct)}
    for name, body in schemas.items():
        about, meanings = _documented(known[name])
        body["description"] = about
        for member, kind in body["properties"].items():
            if meaning := meanings.get(member):  # nothing with `python -OO`
                kind["description"] = meaning


def _package_structs(base: type[Struct]) -> Iterator[type[Struct]]:
    for one in base.__subclasses__():
        if one.__module__.startswith("batsched_py."):
            yield one
        yield from _package_structs(one)


def _documented(struct: type[Struct]) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring before its attributes, and that of each attribute."""
    about, _, rest = (inspect.getdoc(struct) or "").partition("Attributes:")
    meanings = dict[str, str]()
    for one in re.findall(r"^ {4}(\S.*(?:\n {8}.*)*)", rest, re.MULTILINE):
        names, _, meaning = " ".join(one.split()).partition(": ")
        meanings.update(dict.fromkeys(names.split(", "), re.sub(r"\bNone\b", "null", meaning)))
    return " ".join(about.split()), meanings
