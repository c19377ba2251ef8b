"""The local barriers of a VM: negative times in order, each after the previous one is complete (F2, F23)."""

from __future__ import annotations

import math
from bisect import insort
from itertools import takewhile

from batsched_py.timelines.entries import ScheduleEntry


class LocalBarriers:
    """The negative entries of a VM, and the reboots between them.

    Attributes:
        pending: entries that have not begun, in their order.
        current: the time of those that have; -infinity before the first.
        running: name -> entry of the current time that has not ended.
        requests: entries of the current time that asked for a reboot.
        reboots: wall times of the begins and ends of the reboots.
        rebooting: end of the present reboot; -infinity if there is none.
    """

    def __init__(self) -> None:
        self.pending: list[ScheduleEntry] = []
        self.current = -math.inf
        self.running: dict[str, ScheduleEntry] = {}
        self.requests: list[ScheduleEntry] = []
        self.reboots: list[tuple[float, float]] = []
        self.rebooting = -math.inf

    def put(self, entry: ScheduleEntry) -> None:
        """Add an entry with a future time."""
        insort(self.pending, entry, key=lambda one: one.key)

    def is_closed(self, now: float) -> bool:
        """Return whether entries of the current time run, or the VM reboots."""
        return bool(self.running) or now < self.rebooting

    def next_time(self, free_at: float) -> float:
        """Return when the present reboot ends, or else `free_at`; infinity while entries of the current time run."""
        if self.rebooting > -math.inf:
            return self.rebooting
        return math.inf if self.running else free_at

    def open(self) -> list[ScheduleEntry]:
        """Return the entries of the next time, which becomes the current one."""
        self.current = self.pending[0].at
        due = list(takewhile(lambda one: one.at == self.current, self.pending))
        del self.pending[: len(due)]
        return due

    def reboot(self, now: float, delay: float) -> float:
        """Begin a reboot, and return its end."""
        self.rebooting = now + delay
        self.reboots.append((now, self.rebooting))
        return self.rebooting

    def again(self) -> list[ScheduleEntry]:
        """End the reboot, and return the entries that asked for it, which run again."""
        self.rebooting = -math.inf
        again, self.requests = sorted(self.requests, key=lambda one: one.key), []
        return again

    def clear(self) -> None:
        """Remove the entries that have not begun, and the requests for a reboot."""
        self.pending, self.requests = [], []
