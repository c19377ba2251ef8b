"""A version of the protocol, as data; those of Batsim 1 to 4."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.protocol import command_forms, event_forms
from batsched_py.protocol.commands import SetJobMetadata
from batsched_py.protocol.forms import Forms


class Dialect(Struct, frozen=True):
    """A version of the protocol.

    Attributes:
        name: its name.
        events, commands: the forms of both directions.
        is_v5: True for Batsim 5, which has other messages.
        is_v14: True for Batsim 1.
        is_wrench: True for WRENCH, which ignores what it does not know, connects anew for each message, and asks for
            dates.
    """

    name: str
    events: Forms
    commands: Forms
    is_v5: bool = False
    is_v14: bool = False
    is_wrench: bool = False

    @property
    def keeps_metadata(self) -> bool:
        """True if a job may have a text that Batsim writes to the jobs file; Batsim 1 and 5 do not support it."""
        return SetJobMetadata in self.commands.writers

    @property
    def registers_exit_codes(self) -> bool:
        """True if a registered profile may have a `ret`; Batsim 5 reads those of its workload files only."""
        return not self.is_v5

    @property
    def runs_registered_sequences(self) -> bool:
        """True if a composed profile may be registered: Batsim 4 crashes when it runs one (ADR 11)."""
        return self.name != "v4"

    def within(self, highest: int) -> Dialect:
        """Return the same version with forms that refuse host sets with a host above `highest`."""
        return replace(self, events=self.events.within(highest), commands=self.commands.within(highest))


#: Batsim 3 and 4.
V4: Final = Dialect("v4", event_forms.V4, command_forms.V4)
#: The seed document's protocol, used by Batsim 1.
V14: Final = Dialect("v1.4", event_forms.V14, command_forms.V14, is_v14=True)
