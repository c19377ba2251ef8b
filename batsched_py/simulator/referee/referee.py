"""The referee: applies each command of a reply through the responsible part, or reports the broken rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from batsched_py.errors import RefusedError
from batsched_py.protocol import commands
from batsched_py.protocol.commands import CallMeLater, Command
from batsched_py.protocol.dialects import DIALECTS
from batsched_py.protocol.events import Answer, Nop, Notify, Query, RequestedCall
from batsched_py.simulator.context import Context
from batsched_py.simulator.referee.errors import BrokenRuleError, StoppedError
from batsched_py.simulator.time.event_queue import RANK_CALL

if TYPE_CHECKING:
    from batsched_py.simulator.jobs.lifecycle import Jobs
    from batsched_py.simulator.jobs.registration import Registration
    from batsched_py.simulator.machines.switching import Switching
    from batsched_py.simulator.periodic_calls import RecurringEvents

# Real Batsim aborts when a command breaks a rule. The simulator is as strict, but names the time, the command and the
# rule, so that an algorithm that works here also works in Batsim. The Plan checks decisions before they are sent; the
# referee checks independently, as the other end may be any program.
#
# There is no central list of rules. The part that owns the state (jobs, machines, registration) checks a command and
# applies it in the same method, since rules separate from the changes that they guard are easily forgotten. Thus
# the referee is one table from classes to methods, created once for each run: a look-up for each command.
#
# Commands are applied one by one in the order of the reply, at the current time, and each sees the effects of previous
# ones. The first broken rule ends the run, so that nothing needs to be undone.

#: Minimum delay of a requested call in seconds, as in Batsim; smaller ones are raised to it.
SHORTEST_CALL: Final = 1e-5


class Referee:
    """The check and application of commands at the current time."""

    def __init__(
        self, context: Context, jobs: Jobs, switching: Switching, registration: Registration, recurring: RecurringEvents
    ) -> None:
        self._context, self._queue = context, context.queue
        #: Class of a command -> function that applies it; raises BrokenRuleError.
        self._appliers: dict[type, Callable[[Any], None]] = {
            commands.ExecuteJob: jobs.execute,
            commands.RejectJob: jobs.reject,
            commands.KillJob: jobs.kill,
            commands.SetJobMetadata: jobs.set_metadata,
            commands.ChangeJobState: jobs.change_state,
            commands.ToJobMessage: jobs.send,
            commands.SetResourceState: switching.request,
            commands.RegisterJob: registration.register_job,
            commands.RegisterProfile: registration.register_profile,
            Notify: registration.notify,
            CallMeLater: self._call_later,
            commands.CallPeriodically: recurring.call,
            commands.StopCalls: recurring.stop_calls,
            commands.CreateProbe: recurring.measure,
            commands.StopProbe: recurring.stop_probe,
            commands.StopSimulation: _stop,
            Query: self._query,
            Answer: _ignore,
            Nop: _ignore,
        }

    def apply(self, position: int, command: Command) -> None:
        """Apply the command at `position` of the reply; RefusedError names the time, the event and the rule."""
        try:
            self._appliers[type(command)](command)
        except BrokenRuleError as broken:
            name = DIALECTS[self._context.generation.protocol].commands.name_of(command)
            raise RefusedError(f"t={self._queue.stamp:.6f}: events[{position}] {name}: {broken}") from None

    def _call_later(self, command: CallMeLater) -> None:
        now = self._queue.now
        # The other end knows the rounded time only, a little before or after the clock: later than one is enough.
        if not command.at > min(now, self._queue.stamp) and not self._context.generation.calls_at_once:
            raise BrokenRuleError(f"asks to be called at {command.at!r}, which is not later than {self._queue.stamp!r}")
        call = partial(self._context.mailbox.post, self._announce_call)
        soonest = now if self._context.generation.calls_at_once else now + SHORTEST_CALL
        self._queue.at(max(command.at, soonest), RANK_CALL, call, command.call_id)

    def _announce_call(self, call_id: str) -> None:
        self._context.emit(RequestedCall(self._queue.stamp, call_id=call_id))

    def _query(self, command: Query) -> None:
        if list(command.requests) != ["consumed_energy"] or command.requests["consumed_energy"] != {}:
            raise BrokenRuleError('may only ask {"consumed_energy": {}}')
        if self._context.meter is None:
            raise BrokenRuleError("asks for consumed_energy, which needs energy to be counted (-E)")
        joules = round(self._context.meter.settle_all(self._queue.now), 6)
        self._context.emit(Answer(self._queue.stamp, {self._context.generation.energy_answer: joules}))


def _stop(_: Command) -> None:
    raise StoppedError


def _ignore(command: Answer | Nop) -> None:
    """Ignore the command: Batsim only logs answers (E20)."""
