"""The forms of the events and commands of a dialect, and the envelope around them: all that a codec must know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

# A dialect is data: two tables of forms, events and commands, each with an envelope. Batsim 1.4, 4 and 5 share the same
# classes, so that an algorithm need not know for which of them it decides; only readers and writers differ. An adapter
# that translates messages of one version into those of another would parse and write each message twice, and would have
# to invent what the other version has no words for (ADR 34).
#
# Tables are made once for a dialect, and once more for each platform (`within`), with the highest host number bound
# into the readers: a host set with larger numbers is refused before memory is allocated for it. So a message costs one
# look into a dictionary for each event, and no test of versions.

#: (timestamp, data) -> the typed value; raises FieldError. Those that read host sets take the highest number a host
#: may have, too.
Reader = Callable[..., Any]
#: The typed value -> data; raises FieldError.
Writer = Callable[[Any], dict[str, Any]]
#: The typed value -> what the other end would read, mostly the same object; None if it must be written to know.
AsRead = Callable[[Any], Any]


class Envelope:
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

    __slots__ = ("complete", "data", "dump", "kind", "parse")

    def __init__(
        self,
        kind: str,
        data: str,
        parse: Callable[[bytes], dict[str, Any]],
        dump: Callable[[dict[str, Any]], bytes],
        complete: Callable[[Any, Mapping[str, Any]], tuple[float, str, dict[str, Any]] | None],
    ) -> None:
        self.kind, self.data = kind, data
        self.parse, self.dump, self.complete = parse, dump, complete


class Form:
    """The form of one class on the wire. Without a writer it is only read; `names_hosts` if it holds host sets.

    A class may have several names, for what its values say; `choose` returns the one under which a value is written.
    Values of a class with `as_read` may go to the other end of the conversation unwritten, if that is in this process.
    """

    __slots__ = ("as_read", "choose", "kind", "name", "names_hosts", "read", "write")

    def __init__(
        self,
        kind: type,
        name: str,
        read: Reader,
        write: Writer | None,
        *,
        names_hosts: bool = False,
        choose: Callable[[Any], str] | None = None,
        as_read: AsRead | None = None,
    ) -> None:
        self.kind, self.name, self.read, self.write = kind, name, read, write
        self.names_hosts, self.choose, self.as_read = names_hosts, choose, as_read

    def within(self, highest: int) -> Form:
        """Return the same form, which refuses a host above `highest` before bits are made of its set."""
        if not self.names_hosts:
            return self
        read = partial(self.read, highest=highest)
        return Form(self.kind, self.name, read, self.write, names_hosts=True, choose=self.choose)


class Forms:
    """One direction of one dialect: forms by wire name for reading, by class for writing."""

    __slots__ = ("_forms", "as_read", "choosers", "envelope", "readers", "writers")

    def __init__(self, *forms: Form, envelope: Envelope) -> None:
        """Make the forms of one direction, which go into events of this envelope."""
        self._forms = forms
        self.envelope = envelope
        #: Wire name -> reader.
        self.readers: dict[str, Reader] = {form.name: form.read for form in forms}
        #: Class -> (wire name, writer); a class that a dialect lacks is absent.
        self.writers: dict[type, tuple[str, Writer]] = {
            form.kind: (form.name, form.write) for form in forms if form.write is not None
        }
        #: Class -> what chooses the wire name, for those with several.
        self.choosers: dict[type, Callable[[Any], str]] = {
            form.kind: form.choose for form in forms if form.choose is not None
        }
        #: Class -> what the other end would read of its values, for those that may stay unwritten.
        self.as_read: dict[type, AsRead] = {form.kind: form.as_read for form in forms if form.as_read is not None}

    def name_of(self, value: Any) -> str:
        """Return the wire name of a value; that of its class if it has none."""
        kind = type(value)
        if kind in self.choosers:
            return self.choosers[kind](value)
        return self.writers[kind][0] if kind in self.writers else kind.__name__

    def within(self, highest: int) -> Forms:
        """Return the same forms, which refuse a host above `highest`."""
        return Forms(*[form.within(highest) for form in self._forms], envelope=self.envelope)
