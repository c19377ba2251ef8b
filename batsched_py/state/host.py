"""A host, as described in SIMULATION_BEGINS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Host(Struct, frozen=True):
    """A compute host or a storage host.

    Attributes:
        id: its number.
        name: its name in the platform.
        properties: properties in the platform file; values are strings.
        zone_properties: properties of its zone, empty if unknown.
        sleep_pstates: pstates (as text) in which it sleeps and cannot run jobs.
        transition_pstates: virtual pstates that only model switching off and on, and cannot be requested.
        pstate_count: number of pstates; 0 if the platform does not describe power.
        cores: number of cores, as Batsim 5 sends it; 1 if unknown.
    """

    id: int
    name: str
    properties: Mapping[str, Any]
    zone_properties: Mapping[str, Any]
    sleep_pstates: frozenset[str]
    transition_pstates: frozenset[str]
    pstate_count: int
    cores: int = 1
