"""The three versions of the protocol, and the one in which a run begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from batsched_py.protocol import begins
from batsched_py.protocol.batsim5 import begins as begins_v5
from batsched_py.protocol.batsim5 import command_forms as command_forms_v5
from batsched_py.protocol.batsim5 import event_forms as event_forms_v5
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.fields import Data

#: Batsim 5, whose conversation begins with a greeting.
V5: Final = Dialect("v5", event_forms_v5.V5, command_forms_v5.V5, is_v5=True)
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
