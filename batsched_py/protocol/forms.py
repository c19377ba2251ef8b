"""What a codec must know of a dialect: the forms of its events and commands, and the envelope around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

#: (timestamp, data) -> the typed value; raises FieldError. Those that read host sets take the highest number a host
#: may have, too.
Reader = Callable[..., Any]
#: The typed value -> data; raises FieldError.
Writer = Callable[[Any], dict[str, Any]]


class Envelope(Struct, frozen=True):
    """The outside of a message: how bytes become a document, and what stands around the data of an event.

    Batsim 1 to 4 send JSON. Batsim 5 sends FlatBuffers, in their JSON or their binary form; a binary envelope would be
    another pair of `parse` and `dump` for the same documents.

    Attributes:
        kind: the member with the type of an event.
        data: the member with what it says.
        parse: reads a document with `now` and the list `events`; RemoteProtocolError.
        dump: writes one; TypeError if something in it is no JSON.
        complete: returns (timestamp, type, data) of an event in which members may have been left out; None if they may
            not. It gets the event and the readers.
    """

    kind: str
    data: str
    parse: Callable[[bytes], dict[str, Any]]
    dump: Callable[[dict[str, Any]], bytes]
    complete: Callable[[Any, Mapping[str, Any]], tuple[float, str, dict[str, Any]] | None]


class Form(Struct, frozen=True):
    """The form of one class on the wire. Without a writer it is only read; `names_hosts` if it holds host sets.

    A class may have several names, for what its values say; `choose` returns the one under which a value is written.
    """

    kind: type
    name: str
    read: Reader
    write: Writer | None
    names_hosts: bool = False
    choose: Callable[[Any], str] | None = None


class Forms:
    """One direction of one dialect: forms by wire name for reading, by class for writing."""

    __slots__ = ("_forms", "choosers", "envelope", "readers", "writers")

    def __init__(self, *forms: Form, envelope: Envelope) -> None:
        """Make the forms of one direction, which go into events of this envelope."""
        self._forms = forms
        self.envelope = envelope
        #: Wire name -> reader.
        self.readers: Mapping[str, Reader] = {form.name: form.read for form in forms}
        #: Class -> (wire name, writer); a class that a dialect lacks is absent.
        self.writers: Mapping[type, tuple[str, Writer]] = {
            form.kind: (form.name, form.write) for form in forms if form.write is not None
        }
        #: Class -> what chooses the wire name, for those with several.
        self.choosers: Mapping[type, Callable[[Any], str]] = {
            form.kind: form.choose for form in forms if form.choose is not None
        }

    def name_of(self, value: Any) -> str:
        """Return the wire name of a value; that of its class if it has none."""
        kind = type(value)
        if kind in self.choosers:
            return self.choosers[kind](value)
        return self.writers[kind][0] if kind in self.writers else kind.__name__

    def within(self, highest: int) -> Forms:
        """Return the same forms, which refuse a host above `highest` before bits are made of its set."""
        bounded = [
            replace(form, read=partial(form.read, highest=highest)) if form.names_hosts else form
            for form in self._forms
        ]
        return Forms(*bounded, envelope=self.envelope)
