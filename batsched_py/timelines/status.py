"""The current state of a VM, for users and the API of a site (F18, F32)."""

from __future__ import annotations

from msgspec import Struct


class Vm(Struct, frozen=True):
    """The current state of a VM; times are experiment times unless stated otherwise.

    Attributes:
        name: the name of the VM.
        state: its state.
        hosts: the hosts of its lease, by number; "" before it is launched.
        launched: the simulated second at which its lease started.
        keeps_barrier: whether the global barrier waits for it.
        current: the negative time whose entries are being configured.
        held_by: the break that holds it.
        held_since: the time since which it is held; a simulated second for a break at -inf.
        paused_until: the end of the pause that holds it.
        next_entry: the next entry.
        next_scheduled: the schedule time of the next entry.
        next_time: when the next entry begins; None if undecided.
        why: the reason if the VM has failed.
    """

    name: str
    state: str
    hosts: str
    launched: float | None
    keeps_barrier: bool
    current: float | None
    held_by: str | None
    held_since: float | None
    paused_until: float | None
    next_entry: str | None
    next_scheduled: float | None
    next_time: float | None
    why: str
