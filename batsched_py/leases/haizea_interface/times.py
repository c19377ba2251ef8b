"""Times in Haizea's interfaces: instants, spans, and the clock of the run (H91)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: The current time in seconds since the start of the run, while users' code is called.
_NOW: ContextVar[float] = ContextVar("now")


class TimeDelta(float):
    """A time span in seconds, with the arguments and the attributes of mx.DateTime's TimeDelta."""

    __slots__ = ()

    def __new__(cls, hours: float = 0.0, minutes: float = 0.0, seconds: float = 0.0) -> TimeDelta:
        """Create a span from the sum of these."""
        return super().__new__(cls, 3600.0 * hours + 60.0 * minutes + seconds)

    @property
    def seconds(self) -> float:
        """The whole span in seconds."""
        return float(self)

    @property
    def minutes(self) -> float:
        """The whole span in minutes."""
        return self / 60.0

    @property
    def hours(self) -> float:
        """The whole span in hours."""
        return self / 3600.0

    @property
    def days(self) -> float:
        """The whole span in days."""
        return self / 86400.0

    def __add__(self, other: float) -> TimeDelta | Instant:
        """Return the sum of two spans, or the instant that is this span after another."""
        total = float.__add__(self, other)
        return Instant(total) if isinstance(other, Instant) else TimeDelta(seconds=total)

    def __sub__(self, other: float) -> TimeDelta:
        """Return the difference of two spans."""
        return TimeDelta(seconds=float.__sub__(self, other))

    def __neg__(self) -> TimeDelta:
        """Return the negated span."""
        return TimeDelta(seconds=float.__neg__(self))

    def __abs__(self) -> TimeDelta:
        """Return the absolute span."""
        return TimeDelta(seconds=float.__abs__(self))


class Instant(float):
    """A point in time, in seconds since the start of the run."""

    __slots__ = ()

    def __add__(self, other: float) -> Instant:
        """Return the instant so many seconds later."""
        return Instant(float.__add__(self, other))

    __radd__ = __add__

    def __sub__(self, other: float) -> TimeDelta | Instant:
        """Return the span since another instant, or the instant that is a span earlier."""
        left = float.__sub__(self, other)
        return TimeDelta(seconds=left) if isinstance(other, Instant) else Instant(left)


class RunClock:
    """The clock of the run that calls users' code."""

    def get_time(self) -> Instant:
        """Return the current time of the run. RuntimeError outside calls by a run, such as while a file is loaded."""
        try:
            return Instant(_NOW.get())
        except LookupError:
            raise RuntimeError("the clock can be read only while a policy or a probe is asked") from None


def get_clock() -> RunClock:
    """Return the clock, which always shows the time of the calling run."""
    return RunClock()


@contextmanager
def clock_at(now: float) -> Iterator[None]:
    """Set the time of the clock within the context."""
    token = _NOW.set(now)
    try:
        yield
    finally:
        _NOW.reset(token)
