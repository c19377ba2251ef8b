"""Periodic calls and probes: actions of Batsim 5's server at each multiple of a period."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Final

from msgspec import Struct

from batsched_py.addition import add_up
from batsched_py.errors import DeadlockError
from batsched_py.hostset import HostSet
from batsched_py.protocol.commands import CallPeriodically, CreateProbe, StopCalls, StopProbe
from batsched_py.protocol.events import ProbeData, RequestedCall
from batsched_py.simulator.context import Context
from batsched_py.simulator.machines.machines import members
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.time.event_queue import RANK_CALL, Ticket
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

#: Members of a probe's message that do not depend on the measured values.
_USUAL: Final = {"metrics": "Power", "manually_triggered": False, "nb_emitted": 0, "nb_triggered": 0}
#: Maximum number of periods after the last job: real Batsim 5 would continue forever.
MOST_IN_VAIN: Final = 10_000
#: Maximum number of calls and measurements in one message: a reply that advances the clock triggers all that are due.
MOST_AT_ONCE: Final = 100_000
#: Units per second for the comparison of periods: milliseconds.
_UNITS: Final = 1000


#: A due call or measurement: whether it is a probe, its name, its command, and whether it is the last one.
_Due = tuple[bool, str, CallPeriodically | CreateProbe, bool]


class _Period(Struct, eq=False):
    """An active period: its command, and how often it is still due (None: unlimited)."""

    command: CallPeriodically | CreateProbe
    left: int | None
    #: Number of the next multiple of the period.
    count: int
    #: Whether it is a probe before its first multiple, at which it begins without a measurement.
    fresh: bool
    #: Its ticket in the queue.
    ticket: Ticket = 0


class RecurringEvents:
    """The active periodic calls and probes."""

    def __init__(self, context: Context, over: Callable[[], bool]) -> None:
        """Take the context, and `over()`, which is True when only calls remain, which could continue forever."""
        self._context, self._queue, self._over = context, context.queue, over
        self._calls: dict[str, _Period] = {}
        self._probes: dict[str, _Period] = {}
        #: Calls and measurements due at this instant; empty between instants.
        self._due: list[_Due] = []
        self._in_vain = 0

    def call(self, command: CallPeriodically) -> None:
        """Begin periodic calls."""
        self._begin(self._calls, command.call_id, command, fresh=False)

    def stop_calls(self, command: StopCalls) -> None:
        """End periodic calls; unknown ones are ignored (Batsim only warns)."""
        self._end(self._calls, command.call_id)

    def measure(self, command: CreateProbe) -> None:
        """Begin an energy probe."""
        if not self._context.settings.energy:
            raise BrokenRuleError(f"probe {command.probe_id!r} needs energy to be counted (-E, Batsim's --energy-host)")
        wrong = command.hosts.bits & ~self._context.machines.all
        if wrong:
            raise BrokenRuleError("names hosts that do not exist", hosts=wrong)
        self._begin(self._probes, command.probe_id, command, fresh=True)

    def stop_probe(self, command: StopProbe) -> None:
        """End a probe."""
        self._end(self._probes, command.probe_id)

    def _end(self, table: dict[str, _Period], name: str) -> None:
        period = table.pop(name, None)
        if period is not None:
            self._queue.cancel(period.ticket)

    def _begin(
        self, table: dict[str, _Period], name: str, command: CallPeriodically | CreateProbe, *, fresh: bool
    ) -> None:
        if name in table:
            raise BrokenRuleError(f"{name!r} goes on already")
        for other in (*self._calls.values(), *self._probes.values()):
            short, long = sorted(round(one.period * _UNITS) for one in (command, other.command))
            if long % short:
                raise BrokenRuleError(
                    f"{name!r}: of it and the period {seconds(other.command.period)} s one must be a multiple"
                )
        count = int((self._queue.now + 1e-9) // command.period) + 1
        period = _Period(command, command.times, count, fresh)
        table[name] = period
        self._wait(table, name, period)

    def _wait(self, table: dict[str, _Period], name: str, period: _Period) -> None:
        due = period.count * round(period.command.period * _UNITS) / _UNITS
        period.ticket = self._queue.at(due, RANK_CALL, lambda _: self._tick(table, name, period), None)

    def _tick(self, table: dict[str, _Period], name: str, period: _Period) -> None:
        self._note_vain()
        period.count += 1
        if period.fresh:
            period.fresh = False
        else:
            if period.left is not None:
                period.left -= 1
            if not self._due:
                self._queue.at(self._queue.now, RANK_CALL, self._post, None)
            self._due.append((table is self._probes, name, period.command, period.left == 0))
        if period.left == 0:
            del table[name]
        else:
            self._wait(table, name, period)

    def _post(self, _: None) -> None:
        """Send everything due at this instant in one message: calls, then probes, each in the order of names."""
        due, self._due = sorted(self._due, key=itemgetter(0, 1)), []
        self._context.mailbox.post(self._emit, due)

    def _emit(self, due: list[_Due]) -> None:
        stamp = self._queue.stamp
        for _, _, command, last in due:
            if type(command) is CreateProbe:
                self._context.emit(self._measured(command, stamp))
            elif type(command) is CallPeriodically:
                self._context.emit(RequestedCall(stamp, call_id=command.call_id, last=last))
        if len(self._context.outbox) > MOST_AT_ONCE:
            raise DeadlockError(
                f"t={stamp:.6f}: more than {MOST_AT_ONCE} calls or probes are due before the next message, because the"
                f" scheduler's reply puts the clock so far forward: {self._names()}"
            )

    def _measured(self, command: CreateProbe, stamp: float) -> ProbeData:
        meter, now = self._context.meter, self._queue.now
        assert meter is not None  # noqa: S101  # a probe needs it
        meter.settle_all(now)
        numbers = members(command.hosts.bits)
        joules = tuple(meter.joules([host], now) for host in numbers)
        if command.summary != "each":
            joules = (add_up(joules) / (len(joules) if command.summary == "mean" else 1),)
        hosts = HostSet(command.hosts.bits)
        return ProbeData(stamp, command.probe_id, hosts, joules, command.summary != "each", _USUAL)

    def _note_vain(self) -> None:
        self._in_vain = self._in_vain + 1 if self._over() else 0
        if self._in_vain > MOST_IN_VAIN:
            raise DeadlockError(
                f"t={self._queue.stamp:.6f}: all jobs have ended, yet calls or probes continue forever: {self._names()}"
            )

    def _names(self) -> str:
        return displayed(", ".join((*self._calls, *self._probes)))
