"""The versions of the protocol, WRENCH's among them, and the one in which a run begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from batsched_py.protocol import begins, wrench
from batsched_py.protocol.batsim5 import begins as begins_v5
from batsched_py.protocol.batsim5 import command_forms as command_forms_v5
from batsched_py.protocol.batsim5 import event_forms as event_forms_v5
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.fields import Data

#: Batsim 5, whose conversation begins with a greeting.
V5: Final = Dialect("v5", event_forms_v5.V5, command_forms_v5.V5, is_v5=True)
#: WRENCH, which takes the place of Batsim.
WRENCH: Final = Dialect("wrench", wrench.EVENTS, wrench.COMMANDS, is_wrench=True)
#: Name -> dialect of a Batsim.
DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (V4, V14, V5)}


def dialect_of(begins_data: Data) -> Dialect:
    """Return the dialect in which this SIMULATION_BEGINS is written.

    Only v1.4 and WRENCH have `resources_data`, whose numbers are texts in WRENCH; v5 has other names.
    """
    if "computation_hosts" in begins_data:
        return V5
    if "resources_data" not in begins_data:
        return V4
    return WRENCH if wrench.is_from_wrench(begins_data) else V14


def highest_host(begins_data: Data) -> int:
    """Return the highest number that a host of this SIMULATION_BEGINS may have, before it is validated.

    Batsim numbers hosts from 0 without gaps; gaps are legal, but bounded to limit the size of host sets.
    """
    return begins.highest_of(begins.count_resources(begins_data) + begins_v5.count_hosts(begins_data))
