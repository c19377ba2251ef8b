"""Accounting of a run: counters and statistics, with the interface that probes use to record them (H76, H92)."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import ClassVar, Literal

from batsched_py.leases.accounting.counters import Average, Counter, Number
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import did_you_mean

#: A statistic of a lease or of a run; None until it is set.
Figure = Number | str | None
#: Computation of the statistics that Haizea gets wrong: as its manual says, or as its code does.
Stats = Literal["corrected", "original"]


class Accounting:
    """Counters, and statistics of leases and of the run. Unknown and duplicate names raise ValueError.

    Attributes:
        stats: how built-in probes compute the statistics that Haizea gets wrong.
        now: seconds since the run began; its owner keeps it up to date.
        counters: name -> counter.
        lease_stats: name of a statistic -> id of a lease -> its value, if it has one.
        run_stats: name of a statistic of the run -> its value.
    """

    AVERAGE_NONE: ClassVar = Average.NONE
    AVERAGE_NORMAL: ClassVar = Average.NORMAL
    AVERAGE_TIMEWEIGHTED: ClassVar = Average.TIME_WEIGHTED

    def __init__(self, stats: Stats = "corrected") -> None:
        self.stats = stats
        self.now = 0.0
        self.counters: dict[str, Counter] = {}
        self.lease_stats: dict[str, dict[int, Figure]] = {}
        self.run_stats: dict[str, Figure] = {}

    def create_counter(self, counter_id: str, avgtype: Average = Average.NONE) -> None:
        """Create a counter with the value 0."""
        _check_new(counter_id, self.counters, "counter")
        self.counters[counter_id] = Counter(Average(avgtype))

    def create_lease_stat(self, stat_id: str) -> None:
        """Create a statistic of leases."""
        _check_new(stat_id, self.lease_stats, "statistic of leases")
        self.lease_stats[stat_id] = {}

    def create_stat(self, stat_id: str) -> None:
        """Create a statistic of the run."""
        _check_new(stat_id, self.run_stats, "statistic of the run")
        self.run_stats[stat_id] = None

    def incr_counter(self, counter_id: str, lease_id: int | None = None) -> None:
        """Add one to a counter; `lease_id` is the lease that causes the change, if any."""
        self.append_to_counter(counter_id, self.get_last_counter_value(counter_id) + 1, lease_id)

    def decr_counter(self, counter_id: str, lease_id: int | None = None) -> None:
        """Subtract one from a counter."""
        self.append_to_counter(counter_id, self.get_last_counter_value(counter_id) - 1, lease_id)

    def append_to_counter(self, counter_id: str, value: Number, lease_id: int | None = None) -> None:
        """Set a counter to a value."""
        self._counter(counter_id).put(self.now, _plain_number(value), lease_id)

    def get_last_counter_time(self, counter_id: str) -> float:
        """Return the time of the latest entry of a counter."""
        return self._counter(counter_id).last.time

    def get_last_counter_value(self, counter_id: str) -> Number:
        """Return the latest value of a counter."""
        return self._counter(counter_id).last.value

    def set_lease_stat(self, stat_id: str, lease_id: int, value: Figure) -> None:
        """Set a statistic of a lease."""
        _check_known(stat_id, self.lease_stats, "statistic of leases")
        self.lease_stats[stat_id][lease_id] = _plain(value)

    def set_stat(self, stat_id: str, value: Figure) -> None:
        """Set a statistic of the run."""
        _check_known(stat_id, self.run_stats, "statistic of the run")
        self.run_stats[stat_id] = _plain(value)

    def close(self, now: float) -> None:
        """Close all counters at the end of the run."""
        self.now = now
        for counter in self.counters.values():
            counter.close(now)

    def _counter(self, name: str) -> Counter:
        try:
            return self.counters[name]
        except KeyError:
            raise _unknown(name, self.counters, "counter") from None


def _plain(value: Figure) -> Figure:
    """Return a statistic as a plain number or text; ValueError if it is neither."""
    return value if value is None or isinstance(value, str) else _plain_number(value)


def _plain_number(value: Number) -> Number:
    """Return a number of any class as int or float; ValueError if the value is not a number."""
    if value.__class__ is int or value.__class__ is float:
        return value
    if not isinstance(value, Real):
        raise ValueError(f"must be a number, not {shown(value)}")
    return int(value) if isinstance(value, Integral) else float(value)


def _check_new(name: str, known: Collection[str], what: str) -> None:
    if name in known:
        raise ValueError(f"there is a {what} {displayed(repr(name))} already")


def _check_known(name: str, known: Collection[str], what: str) -> None:
    if name not in known:
        raise _unknown(name, known, what)


def _unknown(name: str, known: Collection[str], what: str) -> ValueError:
    suggestion = did_you_mean(name, known)
    return ValueError(f"there is no {what} {displayed(repr(name))}" + (f"; {suggestion}" if suggestion else ""))
