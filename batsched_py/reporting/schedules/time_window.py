"""The measured window of a run's time; a job belongs to the window in which it was submitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds


class TimeWindow(Struct, frozen=True):
    """The time [begin, end) in seconds of a run's clock."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """Return the length of the window in seconds."""
        return self.end - self.begin

    def holds(self, time: float) -> bool:
        """Return True if the time is in the window."""
        return self.begin <= time < self.end

    def submitted(self, schedule: Schedule) -> Schedule:
        """Return the schedule with only those jobs and leases that were submitted in the window.

        All attempts of these jobs are kept. Jobs without a row are dropped, because their submission is unknown.
        """
        jobs = tuple(record for record in schedule.jobs if self.holds(schedule.first_submission(record)))
        ids, leases = {record.job.id for record in jobs}, schedule.leases
        placements = schedule.placements
        if leases is not None:
            rows = {number: row for number, row in leases.leases.items() if self.holds(row.submit_time)}
            leases = replace(leases, leases=rows)
        if placements is not None:
            placements = {job: row for job, row in placements.items() if job in ids}
        return replace(schedule, jobs=jobs, leases=leases, placements=placements, unlisted=0)

    def seen(self, schedule: Schedule) -> Schedule:
        """Return the schedule with only those jobs that waited or ran in the window, or were submitted and rejected."""
        jobs = tuple(
            record
            for record in schedule.jobs
            if record.job.submit_time < self.end
            and (self.begin <= record.job.submit_time if record.rejected else self.begin <= record.finish)
        )
        return replace(schedule, jobs=jobs)


class WindowChoice(Struct, frozen=True):
    """The part of a run to measure or show, as requested by the user.

    Attributes:
        begin: seconds of the run's clock, or a date; None for the begin of the run.
        until: the same for the end; None for the end of the run.
        skip: seconds after the first submission, instead of `begin`; None to skip nothing.
    """

    begin: float | datetime | None = None
    until: float | datetime | None = None
    skip: float | None = None

    def __post_init__(self) -> None:
        if self.begin is not None and self.skip is not None:
            raise OptionError("--skip: cannot be combined with --from")

    @property
    def whole(self) -> bool:
        """True if it is the whole run."""
        return self.begin is None and self.until is None and self.skip is None

    @property
    def needs_date(self) -> bool:
        """True if the start date of the clock is needed."""
        return isinstance(self.begin, datetime) or isinstance(self.until, datetime)

    def since(self, zero: float) -> WindowChoice:
        """Return the choice converted to a clock that starts at the time `zero` of the original clock."""
        if not zero:
            return self
        begin, until = (_moved(time, zero) for time in (self.begin, self.until))
        return replace(self, begin=begin, until=until)

    def found(self, name: str, start: datetime | None, first: float, last: float) -> TimeWindow:
        """Return the window on a clock. OptionError if it is empty, or if the start date is needed and unknown.

        Args:
            name: the name of the run or log, for messages.
            start: the date at time 0 of the clock; None if unknown.
            first: the time of the first submission.
            last: the default end.
        """
        begin = first + self.skip if self.skip is not None else _second(self.begin, 0.0, start, "--from", name)
        end = _second(self.until, last, start, "--to", name)
        window = TimeWindow(max(begin, 0.0), end)
        if not window.begin < window.end:
            where = f"{displayed(name)}: there is no time from {seconds(window.begin)} to {seconds(max(end, 0.0))}"
            raise OptionError(f"{where}: the last job ends at {seconds(last)}" if last < math.inf else where)
        return window

    def on(self, schedule: Schedule) -> TimeWindow | None:
        """Return the window on a run, by default to the end of its last job or lease; None for the whole run.

        OptionError as for `found`.
        """
        return None if self.whole else self.on_all([schedule])

    def on_all(self, schedules: Sequence[Schedule]) -> TimeWindow:
        """Return a common window on several runs, by default to their last end.

        OptionError as for `found`, and for a date if the clocks started at different dates.
        """
        starts = {schedule.log_start for schedule in schedules}
        if self.needs_date and len(starts) > 1:
            names = " and ".join(displayed(schedule.name) for schedule in schedules)
            raise OptionError(f"{names} have clocks that started at different dates: give seconds instead of a date")
        first = min((record.job.submit_time for schedule in schedules for record in schedule.jobs), default=0.0)
        last = max((schedule.end for schedule in schedules), default=0.0)
        choice = self.since(max(schedule.zero for schedule in schedules))
        return choice.found(schedules[0].name, schedules[0].log_start, first, last)

    def __str__(self) -> str:
        """Return the choice as text: "from 864000 s to 2024-05-31 08:00:00"; "" for the whole run."""
        begin = "" if self.begin is None else f"from {_text(self.begin)}"
        begin = begin if self.skip is None else f"from {_text(self.skip)} after the first submission"
        return " ".join(part for part in (begin, "" if self.until is None else f"to {_text(self.until)}") if part)


#: The choice of the whole run.
WHOLE: Final = WindowChoice()


def _second(time: float | datetime | None, default: float, start: datetime | None, option: str, name: str) -> float:
    """Return a time in seconds of a clock that was at 0 at `start`. OptionError if `start` is needed and unknown."""
    if not isinstance(time, datetime):
        return default if time is None else time
    if start is None:
        rule = f"is a date, and {displayed(name)} does not tell at which date its clock started: give seconds"
        raise OptionError(f"{option}: {rule}")
    return ((time if time.tzinfo is not None else time.replace(tzinfo=start.tzinfo)) - start).total_seconds()


def _moved(time: float | datetime | None, zero: float) -> float | datetime | None:
    """Return a time converted to the later clock; seconds before `zero` are taken to be of that clock already."""
    return time if time is None or isinstance(time, datetime) or time < zero else time - zero


def _text(time: float | datetime) -> str:
    return str(time) if isinstance(time, datetime) else f"{seconds(time)} s"
