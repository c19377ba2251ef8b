"""Batches of requests: those that were accepted together take effect in one message."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.hostset import HostSet
from batsched_py.model.external_event import MACHINE_EVENTS, ExternalEvent
from batsched_py.simulator.time.live_loop import LiveBatch
from batsched_py.site.journal import CLOSE, JournalEntry


def batches_of(entries: Sequence[JournalEntry]) -> list[LiveBatch]:
    """Return the requests of each batch as simultaneous events."""
    together: dict[int, list[JournalEntry]] = {}
    for entry in entries:
        together.setdefault(entry.batch, []).append(entry)
    return [
        LiveBatch(batch[0].time, tuple(_event(one) for one in batch if one.kind != CLOSE), last=batch[-1].kind == CLOSE)
        for batch in together.values()
    ]


def _event(entry: JournalEntry) -> ExternalEvent:
    members = {"type": entry.kind, **entry.members}
    hosts = HostSet.parse(entry.members["resources"]) if entry.kind in MACHINE_EVENTS else HostSet()
    return ExternalEvent(entry.time, entry.kind, hosts, members, f"request {entry.number}")
