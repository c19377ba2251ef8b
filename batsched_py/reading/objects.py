"""Readers of objects and lists, made of readers of their parts: the faults of all parts are raised together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar

from batsched_py.errors import InputError
from batsched_py.reading.faults import FieldError, Place, inside, of_file, refused
from batsched_py.reading.values import Reader
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

T = TypeVar("T")
_NONE: Final = object()
#: The version of JSON schema of all schemas.
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


def members_of(readers: Mapping[str, Reader[Any]], required: Collection[str] = ()) -> Reader[dict[str, Any]]:
    """Return a reader of objects: it returns the typed values of the members that are given.

    Members without a reader, and absent ones that are `required`, are faults.
    """

    def read(value: Any) -> dict[str, Any]:
        place, found = Place(), dict[str, Any]()
        for key, item in mapping(value).items():
            if key not in readers:
                (place / key).note(unknown(str(key), readers))
                continue
            try:
                found[key] = readers[key].read(item)
            except ValueError as error:
                (place / key).add(error)
        for key in required:
            if key not in value:
                (place / key).note("is missing")
        place.refuse()
        return found

    schema: dict[str, Any] = {"type": "object", **({"required": list(required)} if required else {})}
    properties = {name: reader.schema for name, reader in readers.items()}
    return Reader(read, {**schema, "additionalProperties": False, "properties": properties})


def object_of(make: Callable[..., T], readers: Mapping[str, Reader[Any]], required: Collection[str] = ()) -> Reader[T]:
    """Return a reader of objects as `members_of`; the members that are given become arguments of `make`."""
    return members_of(readers, required).then(lambda members: make(**members))


def list_of(reader: Reader[T], what: str = "", *, least: int = 0, most: int | None = None) -> Reader[tuple[T, ...]]:
    """Return a reader of lists of `least` to `most` items; `what` names the items in messages."""
    expected = f"a list of {what}" if what else "a list"
    size = f"at most {most}" if least == 0 else f"at least {least}" if most is None else f"{least} to {most}"
    size = f"{least}" if most == least else size

    def read(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list | tuple):
            raise refused(expected, value)
        if least == 1 and not value:
            raise FieldError("", "must not be empty")
        if len(value) < least or (most is not None and len(value) > most):
            raise FieldError("", f"must have {size} items, not {len(value)}")
        place, found = Place(), list[T]()
        for index, item in enumerate(value):
            try:
                found.append(reader.read(item))
            except ValueError as error:
                place[index].add(error)
        place.refuse()
        return tuple(found)

    bounds = {name: bound for name, bound in (("minItems", least or None), ("maxItems", most)) if bound is not None}
    return Reader(read, {"type": "array", "items": reader.schema, **bounds})


def mapping_of(reader: Reader[T], key: Reader[str], what: str = "") -> Reader[dict[str, T]]:
    """Return a reader of objects with any members, whose names are checked by `key`; `what` names them in messages."""

    def read(value: Any) -> dict[str, T]:
        place, found = Place(), dict[str, T]()
        for name, item in mapping(value, what).items():
            try:
                found[key.read(name)] = reader.read(item)
            except ValueError as error:
                (place / name).add(error)
        place.refuse()
        return found

    return Reader(read, {"type": "object", "propertyNames": key.schema, "additionalProperties": reader.schema})


def tagged(readers: Mapping[str, Reader[T]]) -> Reader[T]:
    """Return a reader of objects with one member, whose name selects the reader of its value."""

    def read(value: Any) -> T:
        if not isinstance(value, Mapping) or len(value) != 1:
            raise refused(f"an object with one of {', '.join(readers)}", value)
        [(name, inner)] = value.items()
        if name not in readers:
            raise FieldError(displayed(str(name)), unknown(str(name), readers))
        try:
            return readers[name].read(inner)
        except ValueError as error:
            raise inside(name, error) from None

    properties = {name: reader.schema for name, reader in readers.items()}
    one = {"minProperties": 1, "maxProperties": 1}
    return Reader(read, {"type": "object", **one, "additionalProperties": False, "properties": properties})


def take(members: Mapping[str, Any], key: str, reader: Reader[T], default: Any = _NONE) -> T:
    """Return the typed value of one member, or `default` if it is absent. FieldError; other members are not checked."""
    if key in members:
        try:
            return reader.read(members[key])
        except ValueError as error:
            raise inside(key, error) from None
    if default is _NONE:
        raise FieldError(key, "is missing")
    return default  # type: ignore[no-any-return]


def mapping(value: Any, what: str = "") -> Mapping[Any, Any]:
    """Return the value if it is an object; FieldError."""
    if type(value) is not dict and not isinstance(value, Mapping):
        raise refused(f"an object of {what}" if what else "an object", value)
    return value


def read_whole(reader: Callable[[Any], T], document: Any, kind: type[InputError], file: str) -> T:
    """Return the typed value of a document; an error of this kind names the file and has all faults."""
    try:
        return reader(document)
    except ValueError as error:
        raise of_file(kind, file, error) from None


def document_schema(title: str, reader: Reader[Any]) -> dict[str, Any]:
    """Return the schema of documents with this title."""
    return {"$schema": _DRAFT, "title": title, **reader.schema}


OBJECT: Final = Reader(mapping, {"type": "object"})
