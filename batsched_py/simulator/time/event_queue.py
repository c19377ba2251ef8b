"""The event queue: the clock and future actions, in a deterministic order within each instant."""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Final

# A binary heap of (time, rank, ticket, action, argument). Tickets are unique and ascend, so that comparisons never
# reach the actions, and actions of one time and rank are executed in the order of their requests: the same input gives
# the same run. Between two calls `now` has never moved back, nothing in the heap is earlier, and `_cancelled`
# contains only tickets of entries in the heap, because only pending entries may be cancelled.
#
# Cancelling marks an entry, and the mark is dropped with it when it reaches the top: O(1), and later O(log n) once; a
# search in the heap would be O(n) for each job that ends before its walltime.
#
# The order of ranks was taken from recorded runs with different kinds of events at one instant; the first guess (ends
# before submissions) was wrong (ADR 6). The order does not matter to an algorithm that decides after all of an instant,
# but it does to the order of rows and messages.
#
# There are two ways to advance. `run_until` executes exact instants, the default of simulations. `step` is for message
# latency (ADR 9): SimGrid's sleeps end together if they are within a nanosecond, at the time of the first, ordered by
# rank and ticket, not by time; computations and messages in transit are exact, and are put back.
#
# Batsim prints times with six decimals: `stamp` is the time known to the other end, and `now` the exact time.
# Comparisons of the two must allow for the rounding (`Referee._call_later`).

#: Ranks within one instant, as recorded runs of real Batsim show them: greetings at 0 s, events of machines,
#: submissions, ends of delays and state changes, ends of parallel tasks, walltimes that end then, calls.
RANK_GREETING: Final = 0
RANK_MACHINES: Final = 1
RANK_SUBMISSION: Final = 2
RANK_END: Final = 3
RANK_TASK_END: Final = 4
RANK_WATCH: Final = 5
RANK_CALL: Final = 6
#: Messages that take time arrive after all other actions of an instant.
RANK_MAIL: Final = 7
#: Latencies end, and rates are recomputed, after everything that affects them at an instant.
RANK_RATES: Final = 8

#: Remaining seconds below which SimGrid ends a sleep. Ends of computations and transfers are exact.
PRECISION: Final = 1e-9
_EXACT: Final = frozenset({RANK_TASK_END, RANK_MAIL})

#: The identifier of an entry, for `cancel`.
Ticket = int


class EventQueue:
    """The simulated clock, in seconds, and the scheduled actions."""

    def __init__(self) -> None:
        #: The exact clock; only this class changes it.
        self.now = 0.0
        #: The clock as printed in messages: Batsim prints six decimals.
        self.stamp = 0.0
        #: (time, rank, ticket, action, argument); cancelled entries remain until they reach the top.
        self._heap: list[tuple[float, int, Ticket, Callable[[Any], None], Any]] = []
        #: Tickets of cancelled entries that are still in the heap.
        self._cancelled: set[Ticket] = set()
        self._sequence = 0
        #: Time of the next change of the platform, which `_carry_out` makes; infinite for none.
        self._change_due = math.inf
        self._carry_out: Callable[[], float] = _nothing_due
        self._goes_on: Callable[[], bool] = bool

    def follow(self, due: float, carry_out: Callable[[], float], goes_on: Callable[[], bool]) -> None:
        """Call `carry_out` at a time, before all actions of that time; it returns the next time, infinite for none.

        As in SimGrid, time does not advance to it if no action is pending, unless `goes_on` returns True then.
        """
        self._change_due, self._carry_out, self._goes_on = due, carry_out, goes_on

    def _change(self) -> None:
        if self._change_due > self.now:
            self._move(self._change_due)
        self._change_due = self._carry_out()

    def at(self, time: float, rank: int, action: Callable[[Any], None], argument: Any) -> Ticket:
        """Schedule `action(argument)` at `time`, or now if that is past; ties are ordered by rank, then by request."""
        self._sequence += 1
        heappush(self._heap, (time if time > self.now else self.now, rank, self._sequence, action, argument))
        return self._sequence

    def cancel(self, ticket: Ticket) -> None:
        """Cancel an entry that is still pending."""
        self._cancelled.add(ticket)

    def next_time(self) -> float | None:
        """Return the time of the next action; None if there is none."""
        heap = self._heap
        while heap and heap[0][2] in self._cancelled:
            self._cancelled.discard(heappop(heap)[2])
        return heap[0][0] if heap else None

    def has_others(self, rank: int) -> bool:
        """Return whether any action of another rank is pending; checks every entry."""
        return any(entry[1] != rank and entry[2] not in self._cancelled for entry in self._heap)

    def step(self) -> bool:
        """Run the actions of SimGrid's next instant, as currently scheduled; return False if none is pending.

        Sleeps that end within PRECISION of the first action end together with it, at its time.
        """
        heap, cancelled = self._heap, self._cancelled
        while heap and heap[0][2] in cancelled:
            cancelled.discard(heappop(heap)[2])
        if not heap and not (self._change_due < math.inf and self._goes_on()):
            return False
        if not heap or self._change_due <= heap[0][0]:
            self._change()
            return True
        if heap[0][0] > self.now:
            self._move(heap[0][0])
        near = []
        while heap and heap[0][0] - self.now < PRECISION:
            near.append(heappop(heap))
        due = [entry for entry in near if entry[0] <= self.now or entry[1] not in _EXACT]
        for entry in near:
            if entry[0] > self.now and entry[1] in _EXACT:
                heappush(heap, entry)
        for _, _, ticket, action, argument in sorted(due, key=_rank_and_ticket):
            if ticket in cancelled:
                cancelled.discard(ticket)
            else:
                action(argument)
        return True

    def run_next(self) -> bool:
        """Make the changes that are due next, or run the actions of the next instant; return False if none is due."""
        due = self.next_time()
        if due is None and not (self._change_due < math.inf and self._goes_on()):
            return False
        if due is None or self._change_due <= due:
            self._change()
        else:
            self.run_until(due)
        return True

    def run_until(self, time: float) -> None:
        """Run all actions up to and including `time`, and set the clock to it."""
        heap, cancelled = self._heap, self._cancelled
        while self._change_due <= time:
            self.run_until(math.nextafter(self._change_due, -math.inf))
            self._change()
        while heap and heap[0][0] <= time:
            due, _, ticket, action, argument = heappop(heap)
            if ticket in cancelled:
                cancelled.discard(ticket)
                continue
            if due > self.now:
                self._move(due)
            action(argument)
        if time > self.now:
            self._move(time)

    def _move(self, time: float) -> None:
        self.now = float(time)  # an integer from a file would be printed without decimals
        self.stamp = round(self.now, 6)


def _nothing_due() -> float:
    return math.inf


def _rank_and_ticket(entry: tuple[float, int, Ticket, Any, Any]) -> tuple[int, Ticket]:
    return entry[1:3]
