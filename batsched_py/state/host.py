"""A host, as SIMULATION_BEGINS describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Host(Struct, frozen=True):
    """A compute host or a storage host.

    Attributes:
        id: its number.
        name: its name in the platform.
        properties: of the platform file; values are strings.
        zone_properties: of its zone, empty if unknown.
        sleep_pstates: pstates (as text) in which it sleeps and takes no job.
        transition_pstates: virtual ones that only model switching off and on; nobody may ask for them.
        pstate_count: how many there are; 0 if the platform describes no power.
    """

    id: int
    name: str
    properties: Mapping[str, Any]
    zone_properties: Mapping[str, Any]
    sleep_pstates: frozenset[str]
    transition_pstates: frozenset[str]
    pstate_count: int
