"""The three versions of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from batsched_py.protocol import begins, command_forms, event_forms
from batsched_py.protocol.batsim5 import begins as begins_v5
from batsched_py.protocol.batsim5 import command_forms as command_forms_v5
from batsched_py.protocol.batsim5 import event_forms as event_forms_v5
from batsched_py.protocol.commands import SetJobMetadata
from batsched_py.protocol.fields import Data
from batsched_py.protocol.forms import Forms


class Dialect(Struct, frozen=True):
    """A version of the protocol: its name and the forms of both directions."""

    name: str
    events: Forms
    commands: Forms

    @property
    def keeps_metadata(self) -> bool:
        """True if a job may have a text that Batsim writes to the jobs file; Batsim 1 and 5 do not support it."""
        return SetJobMetadata in self.commands.writers

    @property
    def registers_exit_codes(self) -> bool:
        """True if a registered profile may have a `ret`; Batsim 5 reads those of its workload files only."""
        return self.name != "v5"

    @property
    def runs_registered_sequences(self) -> bool:
        """True if a composed profile may be registered: Batsim 4 crashes when it runs one (ADR 11)."""
        return self.name != "v4"

    def within(self, highest: int) -> Dialect:
        """Return the same version with forms that refuse host sets with a host above `highest`."""
        return Dialect(self.name, self.events.within(highest), self.commands.within(highest))


#: Batsim 3 and 4.
V4: Final = Dialect("v4", event_forms.V4, command_forms.V4)
#: The seed document's protocol, used by Batsim 1.
V14: Final = Dialect("v1.4", event_forms.V14, command_forms.V14)
#: Batsim 5, whose conversation begins with a greeting.
V5: Final = Dialect("v5", event_forms_v5.V5, command_forms_v5.V5)
#: Name -> dialect.
DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (V4, V14, V5)}


def dialect_of(begins_data: Data) -> Dialect:
    """Return the dialect in which this SIMULATION_BEGINS is written: only v1.4 has `resources_data`, v5 other names."""
    if "computation_hosts" in begins_data:
        return V5
    return V14 if "resources_data" in begins_data else V4


def highest_host(begins_data: Data) -> int:
    """Return the highest number that a host of this SIMULATION_BEGINS may have, before it is validated.

    Batsim numbers hosts from 0 without gaps; gaps are legal, but bounded to limit the size of host sets.
    """
    return begins.highest_of(begins.count_resources(begins_data) + begins_v5.count_hosts(begins_data))
