"""Times as Haizea's policies handle them: instants, spans, and the clock of the run that asks (H91)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Now, in seconds since the start of the run, while users' code is asked.
_NOW: ContextVar[float] = ContextVar("now")


class TimeDelta(float):
    """Span of time, a number of seconds; with the arguments and the attributes of mx.DateTime's."""

    __slots__ = ()

    def __new__(cls, hours: float = 0.0, minutes: float = 0.0, seconds: float = 0.0) -> TimeDelta:
        """Make a span of these together."""
        return super().__new__(cls, 3600.0 * hours + 60.0 * minutes + seconds)

    @property
    def seconds(self) -> float:
        """All of it in seconds."""
        return float(self)

    @property
    def minutes(self) -> float:
        """All of it in minutes."""
        return self / 60.0

    @property
    def hours(self) -> float:
        """All of it in hours."""
        return self / 3600.0

    @property
    def days(self) -> float:
        """All of it in days."""
        return self / 86400.0

    def __add__(self, other: float) -> TimeDelta | Instant:
        """Return a longer span, or what comes so long after an instant."""
        total = float.__add__(self, other)
        return Instant(total) if isinstance(other, Instant) else TimeDelta(seconds=total)

    def __sub__(self, other: float) -> TimeDelta:
        """Return a shorter span."""
        return TimeDelta(seconds=float.__sub__(self, other))

    def __neg__(self) -> TimeDelta:
        """Return the span backwards."""
        return TimeDelta(seconds=float.__neg__(self))

    def __abs__(self) -> TimeDelta:
        """Return the span forwards."""
        return TimeDelta(seconds=float.__abs__(self))


class Instant(float):
    """Point in time, in seconds since the start of the run."""

    __slots__ = ()

    def __add__(self, other: float) -> Instant:
        """Return what comes so many seconds later."""
        return Instant(float.__add__(self, other))

    __radd__ = __add__

    def __sub__(self, other: float) -> TimeDelta | Instant:
        """Return how long it is after another instant, or what comes so many seconds before."""
        left = float.__sub__(self, other)
        return TimeDelta(seconds=left) if isinstance(other, Instant) else Instant(left)


class Clock:
    """Clock of the run that asks."""

    def get_time(self) -> Instant:
        """Return now. RuntimeError if no run asks, as while a file is loaded."""
        try:
            return Instant(_NOW.get())
        except LookupError:
            raise RuntimeError("the clock can be read only while a policy or a probe is asked") from None


def get_clock() -> Clock:
    """Return the clock of the run that asks whenever it is read."""
    return Clock()


@contextmanager
def clock_at(now: float) -> Iterator[None]:
    """Let the clock tell a time."""
    token = _NOW.set(now)
    try:
        yield
    finally:
        _NOW.reset(token)
