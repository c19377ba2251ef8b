"""The clock of one VM: a map from schedule time to experiment time, shifted by pauses and breaks (F8, F13, F14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from batsched_py.timelines.entries import PauseEntry, ScheduleEntry

# A resume sets a new origin instead of adding the length of the break, which is not known before. After that, pauses
# are added to a sum of their own. So experiment times are small differences of the numbers that the user wrote, and
# whole seconds stay whole; adding each shift to all later entries would round each time, and cost O(n) for each hold.
# Between two calls the clock holds for everything after the last hold that was reached, and only for that. Cost: O(1).


class ExperimentClock:
    """The map from schedule time to experiment time, as far as it is known now.

    It applies to entries after the last pause or break that was reached. It is monotonic: a pause adds its duration, a
    resume continues from the break's own schedule time.

    Attributes:
        moved_by: names of the pauses and breaks that moved it, in their order.
    """

    __slots__ = ("_added", "_origin", "_reached", "moved_by")

    def __init__(self) -> None:
        #: The reference point: a schedule time and its experiment time.
        self._origin, self._reached = 0.0, 0.0
        #: Sum of pauses since then, kept separately so that sums of whole seconds are exact.
        self._added = 0.0
        self.moved_by: tuple[str, ...] = ()

    def experiment_time(self, at: float) -> float:
        """Return the experiment time of a schedule time."""
        return at - self._origin + self._reached + self._added

    def pause(self, duration: float, name: str) -> None:
        """Shift all later times by a duration."""
        if duration:
            self._added += duration
            self.moved_by += (name,)

    def resume(self, at: float, time: float, name: str) -> None:
        """End a break with the schedule time `at` at an experiment time."""
        self._origin, self._reached, self._added = at, time, 0.0
        self.moved_by += (name,)

    def copy(self) -> ExperimentClock:
        """Return a clock that is moved independently."""
        other = ExperimentClock()
        other._origin, other._reached, other._added = self._origin, self._reached, self._added
        other.moved_by = self.moved_by
        return other


def foresee(clock: ExperimentClock, entries: Iterable[ScheduleEntry]) -> Iterator[tuple[ScheduleEntry, float]]:
    """Iterate over the entries to come, in their order, and their experiment times, until a break leaves them open."""
    moved = clock.copy()
    for entry in entries:
        if not isinstance(entry.action, PauseEntry):
            yield entry, moved.experiment_time(entry.at)
        elif entry.action.is_break:
            return
        else:
            moved.pause(entry.action.duration, entry.name)
