"""The scheduler of pybatsim's object layer, and the hooks that drive it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from batsched_py.errors import PlanError
from batsched_py.pybatsim.base import BatsimScheduler
from batsched_py.pybatsim.log import LOGGER
from batsched_py.pybatsim.objects.jobs import JobList, ObjectJob
from batsched_py.pybatsim.objects.resource_list import ResourceList
from batsched_py.pybatsim.objects.resources import HostResource
from batsched_py.pybatsim.objects.workloads import DescribedWorkload

#: Options for pybatsim's log files, which are not written.
_OF_LOGS: Final = ("debug", "export-prefix", "log-debug-events")


class EnergyReply:
    """The joules that Batsim has answered (`batsim.sched.reply.ConsumedEnergyReply`)."""

    def __init__(self, consumed_energy: float) -> None:
        self.consumed_energy = consumed_energy


class ReceivedMessage:
    """A message of a job; its members are attributes and items (`batsim.sched.messages.Message`)."""

    def __init__(self, timestamp: float, message: Any) -> None:
        self.timestamp = timestamp
        self.data = message

    def __getitem__(self, name: str) -> Any:
        return self.data[name]


class ObjectScheduler:
    """A scheduler with jobs and resources as objects (`batsim.sched.Scheduler`).

    `schedule` is called for each event.
    """

    _batsim: Any

    def __init__(self, options: Any = None) -> None:
        self.options = {} if options is None else options
        self.jobs = JobList()
        self.resources = ResourceList()
        self.time = 0.0
        self.reply: Any = None
        self.machines: Any = None
        self.dynamic_workload = DescribedWorkload(name="DYNAMIC_WORKLOAD")
        #: Name -> the workload of submitted jobs.
        self.workload_map: dict[str, DescribedWorkload] = {}
        self._handlers: list[Callable[..., Any]] = []
        #: Seconds that each call of `schedule` takes; so few do not change a time other than 0.
        self._delay = float(self.options.get("sched-delay") or 1e-21)
        self._hooks = ObjectHooks(self)

    def __call__(self) -> ObjectHooks:
        """Return the hooks that drive the scheduler."""
        return self._hooks

    @property
    def has_resource_sharing_on_compute(self) -> bool:
        """Whether jobs may share hosts."""
        shared: bool = self._batsim.allow_compute_sharing
        return shared

    @property
    def get_find_resource_handlers(self) -> list[Callable[..., Any]]:
        """The functions that say which resources a job needs in addition to hosts."""
        return self._handlers

    def register_find_resource_handler(self, handler: Callable[..., Any]) -> None:
        """Add a function of scheduler and job that returns requirements."""
        self._handlers.append(handler)

    def unregister_find_resource_handler(self, handler: Callable[..., Any]) -> None:
        """Remove a function."""
        self._handlers.remove(handler)

    def run_scheduler_at(self, time: float) -> None:
        """Ask for a call of `on_requested_call`."""
        self._batsim.wake_me_up_at(time)

    def request_consumed_energy(self) -> None:
        """Ask for the joules consumed so far."""
        self._batsim.request_consumed_energy()

    def register_dynamic_job(self, *args: Any, **kwargs: Any) -> None:
        """Submit a job: the arguments of `JobDescription`."""
        job = self.dynamic_workload.new_job(*args, **kwargs)
        self.dynamic_workload.prepare()
        job.submit(self)

    def notify_registration_finished(self) -> None:
        """Declare that no more jobs will be submitted."""
        self._batsim.notify_registration_finished()

    def schedule(self) -> None:
        """Decide; for subclasses."""
        raise NotImplementedError(f"{type(self).__name__} does not define schedule")

    def debug(self, msg: str, **values: Any) -> None:
        """Log a text with values in braces."""
        self._log(10, msg, values)

    def info(self, msg: str, **values: Any) -> None:
        """Log a text with values in braces."""
        self._log(20, msg, values)

    def warn(self, msg: str, **values: Any) -> None:
        """Log a text with values in braces."""
        self._log(30, msg, values)

    def error(self, msg: str, **values: Any) -> None:
        """Log a text with values in braces."""
        self._log(40, msg, values)

    def fatal(self, msg: str, **values: Any) -> NoReturn:
        """End the run with a text."""
        raise PlanError(msg.format(**values))

    def _log(self, level: int, msg: str, values: dict[str, Any]) -> None:
        if LOGGER.isEnabledFor(level) and level < 30:
            LOGGER.log(level, "%.6f | %s", self.time, msg.format(**values))
        elif level >= 30:
            self._batsim.warn(msg.format(**values))

    def on_init(self) -> None:
        """Prepare; called once, at the first event."""

    def on_end(self) -> None:
        """Finish; called once, at the last event."""

    def on_jobs_killed(self, jobs: list[ObjectJob]) -> None:
        """Jobs were killed."""

    def on_job_submission(self, job: ObjectJob) -> None:
        """A job has arrived."""

    def on_job_completion(self, job: ObjectJob) -> None:
        """A job has ended."""

    def on_job_message(self, job: ObjectJob, message: ReceivedMessage) -> None:
        """A job has sent a message."""

    def on_machine_pstate_changed(self, resource: HostResource, pstate: Any) -> None:
        """A host has reached a pstate."""

    def on_report_energy_consumed(self, consumed_energy: EnergyReply) -> None:
        """Joules have arrived."""

    def on_add_resources(self, resources: Any) -> None:
        """Hosts were added."""

    def on_remove_resources(self, resources: Any) -> None:
        """Hosts were removed."""

    def on_requested_call(self) -> None:
        """A call that was asked for is due."""

    def _on_pre_init(self) -> None:
        """Prepare the resources; subclasses call it first."""
        self.machines = self._batsim.machines
        for host in self.machines["compute"]:
            described = {name: host[name] for name in ("id", "name", "state", "properties")}
            self.resources.add(HostResource(self, resources_list=self.resources, **described))

    def _on_post_init(self) -> None:
        """Finish the preparation."""

    def _pre_schedule(self) -> None:
        """Begin a call of `schedule`."""

    def _post_schedule(self) -> None:
        """End a call of `schedule`."""

    def _on_pre_end(self) -> None:
        """Begin the end."""

    def _on_post_end(self) -> None:
        """Finish the end."""

    def _do_schedule(self, reply: Any = None) -> None:
        self.reply = reply
        self._pre_schedule()
        self.schedule()
        self._post_schedule()
        self._batsim.consume_time(self._delay)


class ObjectHooks(BatsimScheduler):
    """The hooks of an object scheduler: each updates jobs and resources, calls its hook, and lets it schedule."""

    def __init__(self, scheduler: ObjectScheduler) -> None:
        super().__init__(scheduler.options)
        self._scheduler: Any = scheduler
        #: Id -> the job.
        self._jobs: dict[str, ObjectJob] = {}

    def onSimulationBegins(self) -> None:
        """Give Batsim to the scheduler, and let it prepare."""
        scheduler = self._scheduler
        scheduler._batsim = self.bs
        if hasattr(scheduler, "on_event"):
            self.bs.warn("on_event is never called: --record FILE keeps all messages")
        ignored = [name for name in _OF_LOGS if name in scheduler.options]
        if ignored:
            self.bs.warn(
                f"{', '.join(ignored)} without effect: no log files are written; --record FILE and -e PREFIX are"
            )
        for prepare in (scheduler._on_pre_init, scheduler.on_init, scheduler._on_post_init):
            scheduler.time = self.bs.time()
            prepare()

    def onSimulationEnds(self) -> None:
        """Let the scheduler finish."""
        scheduler = self._scheduler
        scheduler.time = self.bs.time()
        for finish in (scheduler._on_pre_end, scheduler.on_end, scheduler._on_post_end):
            finish()

    def onJobSubmission(self, job: Any) -> None:
        """Add a job."""
        scheduler = self._scheduler
        new = ObjectJob(len(self._jobs), job, scheduler)
        self._jobs[job.id] = new
        workload = scheduler.workload_map.get(job.workload)
        if workload is not None:
            workload[job.id].job = new
            new.workload_description = workload
        scheduler.jobs.add(new)
        self._decide(scheduler.on_job_submission, new)

    def onJobCompletion(self, job: Any) -> None:
        """Free the resources of a job."""
        ended = self._jobs[job.id]
        self._scheduler.time = self.bs.time()
        ended.complete()
        self._decide(self._scheduler.on_job_completion, ended)

    def onJobsKilled(self, jobs: list[Any]) -> None:
        """Free the resources of jobs, unless their ends did."""
        killed = [self._jobs[job.id] for job in jobs]
        self._scheduler.time = self.bs.time()
        for job in killed:
            job.complete()
        self._decide(self._scheduler.on_jobs_killed, killed)

    def onJobMessage(self, timestamp: float, job: Any, message: Any) -> None:
        """Keep a message at its job."""
        sender, received = self._jobs[job.id], ReceivedMessage(timestamp, message)
        sender.messages.append(received)
        self._decide(self._scheduler.on_job_message, sender, received)

    def onMachinePStateChanged(self, nodeid: tuple[int, int], pstate: str) -> None:
        """Pass on the pstate of each host."""
        for number in range(nodeid[0], nodeid[1] + 1):
            host = self._scheduler.resources[number]
            host.switched(pstate)
            self._decide(self._scheduler.on_machine_pstate_changed, host, pstate)

    def onReportEnergyConsumed(self, consumed_energy: float) -> None:
        """Pass on joules."""
        reply = EnergyReply(consumed_energy)
        self._scheduler.time = self.bs.time()
        self._scheduler.on_report_energy_consumed(reply)
        self._scheduler._do_schedule(reply)

    def onAddResources(self, to_add: Any) -> None:
        """Pass on hosts."""
        self._scheduler.on_add_resources(to_add)

    def onRemoveResources(self, to_remove: Any) -> None:
        """Pass on hosts."""
        self._scheduler.on_remove_resources(to_remove)

    def onRequestedCall(self) -> None:
        """Pass on a call, which is not a reason to schedule."""
        self._scheduler.time = self.bs.time()
        self._scheduler.on_requested_call()

    def _decide(self, hook: Callable[..., None], *about: Any) -> None:
        self._scheduler.time = self.bs.time()
        hook(*about)
        self._scheduler._do_schedule()


def as_scheduler(
    *args: Any,
    on_init: Sequence[Callable[..., Any]] = (),
    on_end: Sequence[Callable[..., Any]] = (),
    base_classes: Sequence[type[Any]] = (),
    **kwargs: Any,
) -> Callable[[Callable[..., Any]], type[ObjectScheduler]]:
    """Return a decorator that makes a class of schedulers of a function of the scheduler."""

    def convert(function: Callable[..., Any]) -> type[ObjectScheduler]:
        def schedule(self: Any) -> None:
            function(self, *args, **kwargs)

        def begin(self: Any) -> None:
            super(made, self)._on_pre_init()
            for each in on_init:
                each(self)

        def end(self: Any) -> None:
            super(made, self)._on_pre_end()
            for each in on_end:
                each(self)

        members = {"schedule": schedule, "_on_pre_init": begin, "_on_pre_end": end, "__doc__": function.__doc__}
        made: Any = type(
            function.__name__, (*base_classes, ObjectScheduler), {**members, "__module__": function.__module__}
        )
        result: type[ObjectScheduler] = made
        return result

    return convert
