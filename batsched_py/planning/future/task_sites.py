"""Task sites: the number of tasks of one demand that fit on each used host now, kept until the host changes."""

from __future__ import annotations

from collections.abc import Mapping

from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.room_steps import Amounts, RoomLayout, RoomSteps, TaskFit


class TaskSites:
    """The number of tasks of one demand that fit on each host now."""

    __slots__ = ("_capacities", "_classes", "_fit", "capable", "changed", "counts", "for_empty")

    def __init__(
        self,
        task: TaskDemand,
        layout: RoomLayout,
        classes: Mapping[HostCapacity, tuple[Amounts, int]],
        capacities: Mapping[int, HostCapacity],
    ) -> None:
        self._fit = TaskFit(task, layout)
        self._classes, self._capacities = classes, capacities
        #: (bits of hosts, number of tasks that fit on each while it is unused), for hosts where one fits.
        self.for_empty: list[tuple[int, int]] = []
        #: Bits of all these hosts.
        self.capable = 0
        for capacity, (amounts, bits) in classes.items():
            if not HostRoom(capacity).lacking(task):
                self.for_empty.append((bits, self._fit.most(amounts, amounts)))
                self.capable |= bits
        #: Used host -> number of tasks, without zeros.
        self.counts: dict[int, int] = {}
        #: Hosts whose number may be wrong.
        self.changed: set[int] = set()

    def of(self, host: int, line: RoomSteps, start: float, end: float) -> int:
        """Return how many tasks fit on a used host during [start, end); without promises there it only grows."""
        if not self.capable >> host & 1:
            return 0
        free = line.least(start, end) if line.promises else line.at(start)
        return self._fit.most(free, line.capacity)

    def refresh(self, lines: Mapping[int, RoomSteps], now: float) -> None:
        """Compute the numbers of changed hosts."""
        counts = self.counts
        for host in self.changed:
            line = lines.get(host)
            number = self.of(host, line, now, now) if line is not None else 0
            if number:
                counts[host] = number
            else:
                counts.pop(host, None)
        self.changed.clear()


class FittingTasks:
    """The numbers of tasks of one job that fit on used hosts, and their sum; at most what the job may have on each."""

    __slots__ = ("_most", "counts", "total")

    def __init__(self, sites: TaskSites, wanted: JobDemand) -> None:
        self._most = 1 if wanted.spread else wanted.tasks
        self.counts = dict(sites.counts)
        if self._most == 1:
            self.total = len(self.counts)
        else:
            self.total = sum([min(number, self._most) for number in self.counts.values()])

    def on(self, host: int) -> int:
        """Return the number on a host."""
        return min(self.counts.get(host, 0), self._most)

    def limited(self, number: int) -> int:
        """Return a number of tasks of a host, or what the job may have there."""
        return min(number, self._most)

    def renew(self, host: int, number: int) -> None:
        """Replace the number on a host."""
        self.total += min(number, self._most) - self.on(host)
        self.counts[host] = number
