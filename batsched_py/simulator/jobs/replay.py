"""The replay of a trace: the ranks of a job act one after the other or at once, each at its own pace."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from batsched_py.model.replay import Smpi, UsageStep, UsageTrace
from batsched_py.simulator.contention.activities import Activity
from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.contention.fluid_model import FluidModel
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.execution import ProfileExecution
from batsched_py.simulator.jobs.smpi_ranks import Action, SmpiRanks
from batsched_py.simulator.jobs.work import Task
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.time.event_queue import RANK_END, Ticket

# Each rank is a generator, which yields what it begins: a function that takes the function to call when it is over.
# Between two events each rank has exactly one activity in `_activities`, or has ended.
#
# A rank that has ended sends four bytes to the first host of the job, as Batsim's ranks do, and the job ends with the
# last of these messages. Batsim receives them one at a time, in the order in which ranks ended: with latencies the
# messages of many ranks take long.

#: Bytes of the message by which a rank reports its end.
_END_MESSAGE: Final = 4.0


class TraceReplay:
    """A trace in execution."""

    def __init__(
        self,
        context: Context,
        execution: ProfileExecution,
        task: Task,
        trace: UsageTrace | Smpi,
        end: Callable[[], None],
        *,
        first: int,
        job_id: str,
    ) -> None:
        """Take the task of the trace, and the first host of the job, to which ranks report; `end` is called once."""
        self._job_id = job_id
        #: True after all ranks have been stopped: with the job, which is lost at the first message over an off link.
        self._stopped = False
        self._context, self._execution, self._hosts, self._end, self._first = (
            context,
            execution,
            task.rank_hosts,
            end,
            first,
        )
        # Without contention between jobs, ranks still share the cores of their hosts and the links between them.
        self._fluid = context.fluid or FluidModel(context.queue, execution.processors, context.approximations)
        self._ranks: Sequence[Iterator[Action]]
        if isinstance(trace, Smpi):
            self._ranks = SmpiRanks(trace, self).programs()
        else:
            self._ranks = [self._steps(host, steps) for host, steps in zip(task.rank_hosts, trace.ranks, strict=True)]
        #: The activities in progress; the number of the next one.
        self._activities: dict[int, Activity] = {}
        self._number = 0
        #: Number of a sleep -> its entry in the queue; the number of ranks that have begun.
        self._sleeps: dict[int, Ticket] = {}
        self.started = 0
        #: Number of an activity -> (host, load) that is charged for it.
        self._loads: dict[int, tuple[int, float]] = {}
        #: Ranks that have ended and not yet reported; whether one reports; the number of those that have.
        self._ended: deque[int] = deque()
        self._reports = False
        self._reported = 0

    @property
    def demands(self) -> list[ActivityDemand]:
        """The demands of the computations and messages in progress."""
        return [activity.asked for activity in self._activities.values()]

    def begin(self) -> None:
        """Begin all ranks."""
        for rank in range(len(self._ranks)):
            self.started = rank + 1
            self._go_on(rank)

    def stop(self) -> None:
        """Stop all that is in progress."""
        self._stopped = True
        for number, activity in list(self._activities.items()):
            self._fluid.stop(activity)
            activity.mute()
            self._unload(number)
        self._activities.clear()
        for ticket in self._sleeps.values():
            self._context.queue.cancel(ticket)
        self._sleeps.clear()

    def _steps(self, host: int, steps: tuple[UsageStep, ...]) -> Iterator[Action]:
        """Yield the computations of a rank: each uses some cores of its host, but one at least."""
        cores = self._execution.processors.cores[host]
        for step in steps:
            used = max(1, int(step.usage * cores + 0.5))
            yield partial(self._compute, host, step.flops, used)

    def compute(self, rank: int, flops: float, resume: Callable[[], None]) -> None:
        """Compute on one core of the host of a rank."""
        self._compute(self._hosts[rank], flops, 1, resume)

    def sleep(self, seconds: float, resume: Callable[[], None]) -> None:
        """Wait for some seconds."""
        if self._stopped:
            return
        number = self._number = self._number + 1
        queue = self._context.queue
        self._sleeps[number] = queue.at(queue.now + seconds, RANK_END, self._wake, (number, resume))

    def transfer(self, source: int, target: int, size: float, arrive: Callable[[], None]) -> None:
        """Send bytes from one rank to another."""
        self._run(self._execution.message(self._hosts[source], self._hosts[target], size), arrive)

    def _wake(self, sleep: tuple[int, Callable[[], None]]) -> None:
        number, resume = sleep
        del self._sleeps[number]
        resume()

    def _go_on(self, rank: int) -> None:
        if self._stopped:
            return
        action = next(self._ranks[rank], None)
        if action is not None:
            action(partial(self._go_on, rank))
            return
        self._ended.append(rank)
        if not self._reports:
            self._report()

    def _report(self) -> None:
        """Let the next rank report its end; after the last report, the job ends."""
        self._reports = bool(self._ended)
        if self._ended:
            host = self._hosts[self._ended.popleft()]
            self._run(self._execution.message(host, self._first, _END_MESSAGE), self._hear)

    def _hear(self) -> None:
        self._reported += 1
        if self._reported == len(self._ranks):
            self._end()
        else:
            self._report()

    def _compute(self, host: int, flops: float, cores: int, resume: Callable[[], None]) -> None:
        """Compute so many flops on each of some cores of a host."""
        demand = ActivityDemand(((host, flops),) * cores if flops else ())
        self._run(demand, resume, (host, flops * cores))

    def _run(
        self, demand: ActivityDemand, resume: Callable[[], None], charged: tuple[int, float] | None = None
    ) -> None:
        if self._stopped:
            return
        if self._context.lose is not None and self._fluid.crosses(demand):
            self._context.lose(self._job_id)
            return
        number = self._number = self._number + 1
        meter = self._context.meter
        on_pace = None
        if charged is not None and meter is not None:
            meter.settle((charged[0],), self._context.queue.now)
            on_pace = partial(self._load, meter, number, *charged)
        activity = self._fluid.begin(demand, partial(self._finish, number, resume), on_pace=on_pace)
        self._activities[number] = activity

    def _finish(self, number: int, resume: Callable[[], None]) -> None:
        del self._activities[number]
        if number in self._loads and self._context.meter is not None:
            self._context.meter.settle((self._loads[number][0],), self._context.queue.now)
        self._unload(number)
        resume()

    def _load(self, meter: EnergyMeter, number: int, host: int, flops: float, seconds: float) -> None:
        """Charge a host for an activity of a total duration of `seconds`."""
        self._unload(number)
        load = flops / self._execution.processors.speeds[host] / seconds if seconds else 0.0
        meter.load((host,), (load,))
        self._loads[number] = host, load

    def _unload(self, number: int) -> None:
        meter, loaded = self._context.meter, self._loads.pop(number, None)
        if loaded is not None and meter is not None:
            meter.unload((loaded[0],), (loaded[1],))
