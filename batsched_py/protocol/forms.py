"""The forms of the events and commands of a dialect, and their envelope: everything that a codec needs to know."""

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

#: (timestamp, data) -> the typed value; raises FieldError. Readers of host sets also take the highest allowed host
#: number.
Reader = Callable[..., Any]
#: The typed value -> data; raises FieldError.
Writer = Callable[[Any], dict[str, Any]]
#: The typed value -> the value that the other end would read, usually the same; None if only encoding can tell.
AsRead = Callable[[Any], Any]


class Envelope:
    """The envelope of a message: the conversion of bytes to a document, and the members around the data of an event.

    Batsim 1 to 4 send JSON. Batsim 5 sends FlatBuffers, in their JSON or their binary form; a binary envelope would
    need another pair of `parse` and `dump` for the same documents.

    Attributes:
        kind: name of the member with the type of an event.
        data: name of the member with its data.
        parse: reads a document with `now` and the list `events`; RemoteProtocolError.
        dump: writes one; TypeError for a part that cannot be encoded as JSON.
        complete: takes an event with missing members and the readers; returns (timestamp, type, data), or None if the
            members are required.
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

    A class may have several names, depending on its values; `choose` returns the one under which a value is written.
    Values of a class with `as_read` may be passed without encoding to the other end in the same process.
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
        """Return the same form with a reader that refuses a host above `highest` before it builds the set."""
        if not self.names_hosts:
            return self
        read = partial(self.read, highest=highest)
        return Form(self.kind, self.name, read, self.write, names_hosts=True, choose=self.choose)


class Forms:
    """One direction of one dialect: forms by wire name for reading, by class for writing."""

    __slots__ = ("_forms", "as_read", "choosers", "envelope", "readers", "writers")

    def __init__(self, *forms: Form, envelope: Envelope) -> None:
        """Create the forms of one direction, with the envelope of their messages."""
        self._forms = forms
        self.envelope = envelope
        #: Wire name -> reader.
        self.readers: dict[str, Reader] = {form.name: form.read for form in forms}
        #: Class -> (wire name, writer); a class that a dialect lacks is absent.
        self.writers: dict[type, tuple[str, Writer]] = {
            form.kind: (form.name, form.write) for form in forms if form.write is not None
        }
        #: Class -> function that chooses the wire name, for classes with several.
        self.choosers: dict[type, Callable[[Any], str]] = {
            form.kind: form.choose for form in forms if form.choose is not None
        }
        #: Class -> function that returns the value that the other end would read, for classes that need no encoding.
        self.as_read: dict[type, AsRead] = {form.kind: form.as_read for form in forms if form.as_read is not None}

    def name_of(self, value: Any) -> str:
        """Return the wire name of a value; that of its class if it has none."""
        kind = type(value)
        if kind in self.choosers:
            return self.choosers[kind](value)
        return self.writers[kind][0] if kind in self.writers else kind.__name__

    def within(self, highest: int) -> Forms:
        """Return the same forms with readers that refuse a host above `highest`."""
        return Forms(*[form.within(highest) for form in self._forms], envelope=self.envelope)
