"""The algorithm that runs a scheduler of pybatsim: events become calls of its hooks.

The engine applies all events of a message before it decides, and calls `decide` once; pybatsim calls a hook for each
event, in its order, and lets the scheduler act in each. So the events are kept as they are observed, and played to the
hooks in `decide`, where the Plan takes the verbs of all of them. A hook sees what its scheduler has noted; the engine
knows more, so a verb can only be refused, never pass, for an event that the scheduler has not seen yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from batsched_py.errors import AlgorithmError, BatschedError
from batsched_py.hostset import HostSet
from batsched_py.interruption import is_interruption
from batsched_py.protocol.event_forms import write_progress
from batsched_py.protocol.events import (
    MACHINE_AVAILABLE,
    MACHINE_UNAVAILABLE,
    NO_MORE_EXTERNAL_EVENT,
    NO_MORE_STATIC_JOB,
    Answer,
    Event,
    FromJobMessage,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Notify,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
    Unknown,
)
from batsched_py.pybatsim.bit_procset import BitProcSet
from batsched_py.pybatsim.hook_job import HookJob, JobState
from batsched_py.pybatsim.stand_in import BatsimStandIn
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import FreeOptions
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.text.display import displayed

#: External events that the engine carries out itself.
_REQUESTS: Final = frozenset({"submit_job", "cancel_job"})
#: Final state -> the counter of `self.bs` for it.
_COUNTERS: Final = {
    JobState.COMPLETED_WALLTIME_REACHED: "nb_jobs_timeout",
    JobState.COMPLETED_FAILED: "nb_jobs_failed",
    JobState.COMPLETED_SUCCESSFULLY: "nb_jobs_successful",
    JobState.COMPLETED_KILLED: "nb_jobs_killed",
}


class PybatsimScheduler(Scheduler[FreeOptions]):
    """A scheduler written for pybatsim; the loader derives a class for each.

    Jobs of any size reach it, and it finishes registration by itself.
    """

    name = "pybatsim"
    oversubscribes = True
    #: Makes the scheduler of pybatsim from its options.
    make: ClassVar[Callable[[dict[str, Any]], Any]]

    def __init__(self, options: FreeOptions) -> None:
        super().__init__(options)
        self._hooks = type(self).make(dict(options.values))
        #: Events of the message that were observed, and not played yet.
        self._events: list[Event] = []
        #: The warnings to give with the next Plan, each once.
        self._warnings: dict[str, bool] = {}
        self._bs = BatsimStandIn(self._hooks, self._warn)
        self._hooks.bs = self._bs
        #: The hook that is running, and its job or the like, for errors; "" without one.
        self._running = "", ""
        self._initialised = False

    def observe(self, event: Event, view: View) -> None:
        """Keep an event until the decision; the last one is played at once."""
        self._events.append(event)
        if type(event) is SimulationEnds:
            self._play(view, None)

    def decide(self, view: View, plan: Plan) -> None:
        """Play the events of the message to the hooks."""
        self._play(view, plan)
        for text, given in self._warnings.items():
            if not given:
                plan.warn(text)
                self._warnings[text] = True

    def _play(self, view: View, plan: Plan | None) -> None:
        played, self._events = self._events, []
        try:
            self._bs.begin(view.now, plan)
            self._enter("onBeforeEvents")
            self._hooks.onBeforeEvents()
            for event in played:
                _HANDLERS.get(type(event), PybatsimScheduler._ignore)(self, event, view, plan)
            if plan is not None:
                self._submit_unannounced(view)
            self._enter("onNoMoreEvents")
            self._hooks.onNoMoreEvents()
            if not self._initialised:
                self._initialise(view)
        except BaseException as error:
            if is_interruption(error):
                raise
            why = str(error) if isinstance(error, BatschedError) else f"{type(error).__name__}: {error}"
            raise AlgorithmError(f"in {self._place}: {why}") from error

    def _initialise(self, view: View) -> None:
        """Call `onAfterBatsimInit`, as pybatsim does, after the first reply: what it sends does not arrive."""
        self._initialised = True
        self._enter("onAfterBatsimInit")
        self._bs.begin(self._bs.time(), None)
        self._hooks.onAfterBatsimInit()

    def _enter(self, hook: str, about: str = "") -> None:
        self._running = hook, about

    @property
    def _place(self) -> str:
        hook, about = self._running
        return f"{hook}({displayed(about)})" if about else hook

    def _warn(self, text: str) -> None:
        self._warnings.setdefault(f"{self._place}: {text}", False)

    def _submit_unannounced(self, view: View) -> None:
        """Submit the jobs that external events have asked for, which Batsim does not announce."""
        for job in view.arrived:
            if job.id not in self._bs.jobs:
                self._submission(self._bs.receive(job, None))

    def _begin(self, event: SimulationBegins, view: View, plan: Plan | None) -> None:
        self._bs.describe(event)
        self._enter("onSimulationBegins")
        self._hooks.onSimulationBegins()

    def _end(self, event: SimulationEnds, view: View, plan: Plan | None) -> None:
        self._bs.running_simulation = False
        self._enter("onSimulationEnds")
        self._hooks.onSimulationEnds()

    def _submit(self, event: JobSubmitted, view: View, plan: Plan | None) -> None:
        """Announce a job, unless the engine has rejected it before."""
        if event.job is not None and (plan is None or event.job_id not in plan.rejections):
            self._submission(self._bs.receive(event.job, event.profile))

    def _submission(self, job: HookJob) -> None:
        self._enter("onJobSubmission", job.id)
        self._hooks.onJobSubmission(job)

    def _complete(self, event: JobCompleted, view: View, plan: Plan | None) -> None:
        bs, job = self._bs, self._bs.jobs.get(event.job_id)
        if job is None:
            return
        job.finish_time = event.timestamp
        job.job_state = JobState.__members__.get(event.state, JobState.UNKNOWN)
        job.return_code = event.return_code
        counter = _COUNTERS.get(job.job_state)
        if counter is not None:
            setattr(bs, counter, getattr(bs, counter) + 1)
        bs.nb_jobs_completed += 1
        self._enter("onJobCompletion", job.id)
        self._hooks.onJobCompletion(job)

    def _kill(self, event: JobKilled, view: View, plan: Plan | None) -> None:
        killed = []
        for job_id in event.job_ids:
            job = self._bs.jobs.get(job_id)
            progress = event.progress.get(job_id)
            if job is not None and (progress is not None or not event.has_progress):
                job.progress = None if progress is None else write_progress(progress, "profile_name")
                killed.append(job)
        if killed:
            self._enter("onJobsKilled", killed[0].id)
            self._hooks.onJobsKilled(killed)

    def _pass_message(self, event: FromJobMessage, view: View, plan: Plan | None) -> None:
        job = self._bs.jobs.get(event.job_id)
        if job is not None:
            self._enter("onJobMessage", job.id)
            self._hooks.onJobMessage(event.timestamp, job, event.message)

    def _switch(self, event: ResourceStateChanged, view: View, plan: Plan | None) -> None:
        for interval in event.hosts.intervals():
            first, last = interval
            self._enter("onMachinePStateChanged", f"{first}-{last}" if first < last else str(first))
            self._hooks.onMachinePStateChanged(interval, event.state)

    def _answer(self, event: Answer, view: View, plan: Plan | None) -> None:
        joules = event.consumed_energy
        if joules is not None:
            self._enter("onReportEnergyConsumed")
            self._hooks.onReportEnergyConsumed(joules)

    def _call(self, event: RequestedCall, view: View, plan: Plan | None) -> None:
        self._enter("onRequestedCall")
        self._hooks.onRequestedCall()

    def _notify(self, event: Notify, view: View, plan: Plan | None) -> None:
        hooks, hosts = self._hooks, BitProcSet(*(() if event.hosts is None else event.hosts.intervals()))
        if event.kind == NO_MORE_STATIC_JOB:
            self._bs.no_more_static_jobs = True
            self._enter("onNoMoreJobsInWorkloads")
            hooks.onNoMoreJobsInWorkloads()
        elif event.kind == NO_MORE_EXTERNAL_EVENT:
            self._bs.no_more_external_events = True
            self._enter("onNoMoreExternalEvents")
            hooks.onNoMoreExternalEvents()
        elif event.kind == MACHINE_UNAVAILABLE:
            self._enter("onNotifyEventMachineUnavailable")
            hooks.onNotifyEventMachineUnavailable(hosts)
        elif event.kind == MACHINE_AVAILABLE:
            self._enter("onNotifyEventMachineAvailable")
            hooks.onNotifyEventMachineAvailable(hosts)
        elif not (event.kind in _REQUESTS and view.expects_requests):
            self._enter("onNotifyGenericEvent", event.kind)
            hooks.onNotifyGenericEvent({"type": event.kind, **event.members})

    def _take_unknown(self, event: Unknown, view: View, plan: Plan | None) -> None:
        hook = {"ADD_RESOURCES": "onAddResources", "REMOVE_RESOURCES": "onRemoveResources"}.get(event.type)
        if hook is not None:
            self._enter(hook)
            getattr(self._hooks, hook)(BitProcSet(*HostSet.parse(str(event.data.get("resources", ""))).intervals()))

    def _ignore(self, event: Event, view: View, plan: Plan | None) -> None:
        """Ignore an event without a hook, such as a query, which the engine answers."""


#: Class of an event -> the method that plays it to the hooks.
_HANDLERS: Final[Mapping[type, Callable[..., None]]] = {
    SimulationBegins: PybatsimScheduler._begin,
    SimulationEnds: PybatsimScheduler._end,
    JobSubmitted: PybatsimScheduler._submit,
    JobCompleted: PybatsimScheduler._complete,
    JobKilled: PybatsimScheduler._kill,
    FromJobMessage: PybatsimScheduler._pass_message,
    ResourceStateChanged: PybatsimScheduler._switch,
    Answer: PybatsimScheduler._answer,
    RequestedCall: PybatsimScheduler._call,
    Notify: PybatsimScheduler._notify,
    Unknown: PybatsimScheduler._take_unknown,
}
