"""The `self.bs` of a pybatsim scheduler: its attributes, and its calls as verbs of the Plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NoReturn

from procset import ProcSet

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.commands import AdditionalIo
from batsched_py.protocol.events import DescribedHost, SimulationBegins
from batsched_py.protocol.later_ids import LATER_IDS, read_later_ids
from batsched_py.pybatsim.bit_procset import BitProcSet
from batsched_py.pybatsim.hook_job import HookJob, JobState
from batsched_py.pybatsim.log import LOGGER
from batsched_py.scheduling.plan import Plan
from batsched_py.text.display import displayed, shown

#: Attributes of pybatsim that schedulers may ask for, and that have no counterpart -> the reason.
_MISSING: Final[Mapping[str, str]] = {
    "network": "batsched-py owns the connection",
    "event_publisher": "there is no socket for events: --record FILE keeps all messages",
    "do_next_event": "batsched-py owns the loop of messages",
    "start": "batsched-py owns the loop of messages",
    "storage_controller": "the storage controller is not supported",
    "notify_resources_added": "Batsim has no RESOURCES_ADDED",
    "notify_resources_removed": "Batsim has no RESOURCES_REMOVED",
    "redis": "job.json_dict and job.profile_dict have what Batsim stored there",
}


class BatsimStandIn:
    """Batsim as a scheduler of pybatsim sees it (`batsim.batsim.Batsim`).

    A call becomes a verb of the current Plan at once, which refuses what Batsim would refuse. Counters, attributes and
    their side effects are those of pybatsim 3.2.1; a few names of 2.x are kept.
    """

    WORKLOAD_JOB_SEPARATOR = "!"
    ATTEMPT_JOB_SEPARATOR = "#"
    WORKLOAD_JOB_SEPARATOR_REPLACEMENT = "%"

    def __init__(self, scheduler: Any, warn: Callable[[str], None]) -> None:
        self.scheduler = scheduler
        self.logger = LOGGER
        self.running_simulation = False
        #: Id -> each job ever submitted; none is removed.
        self.jobs: dict[str, HookJob] = {}
        #: Ids of jobs to come, as far as they were announced.
        self._later_ids = frozenset[str]()
        self.jobs_manually_changed: set[HookJob] = set()
        self.nb_jobs_submitted_from_batsim = 0
        self.nb_jobs_submitted_from_scheduler = 0
        self.nb_jobs_submitted = 0
        self.nb_jobs_killed = 0
        self.nb_jobs_rejected = 0
        self.nb_jobs_scheduled = 0
        self.nb_jobs_in_submission = 0
        self.nb_jobs_completed = 0
        self.nb_jobs_successful = 0
        self.nb_jobs_failed = 0
        self.nb_jobs_timeout = 0
        self.no_more_static_jobs = False
        self.no_more_external_events = False
        self.use_storage_controller = False
        #: Workload -> name -> profile, as Batsim sends them.
        self.profiles: dict[str, dict[str, Any]] = {}
        #: The Plan of the current message; None where nothing that is sent arrives.
        self._plan: Plan | None = None
        self._now = 0.0
        #: Id -> the job for the Plan.
        self._submitted: dict[str, Job] = {}
        self._warn = warn

    def __getattr__(self, name: str) -> NoReturn:
        reason = _MISSING.get(name, "it is unknown here, or known only once the simulation has begun")
        raise AttributeError(f"self.bs.{displayed(name)}: {reason}", name=name, obj=self)

    def begin(self, now: float, plan: Plan | None) -> None:
        """Begin a message, for the engine."""
        self._plan = plan
        self._now = now if plan is None else plan.timestamp

    def describe(self, event: SimulationBegins) -> None:
        """Take over what the first event says, for the engine."""
        self.running_simulation = True
        compute = [_described(host) for host in event.resources]
        storage = [_described(host) for host in event.storages]
        self.nb_compute_resources = len(compute)
        self.nb_storage_resources = len(storage)
        self.nb_resources = self.nb_res = len(compute) + len(storage)
        self.machines = {"compute": compute, "storage": storage}
        self.compute_resources = self.resources = {host["id"]: host for host in compute}
        self.storage_resources = {host["id"]: host for host in storage}
        self.batconf = dict(event.config.members)
        self.allow_compute_sharing = event.compute_sharing
        self.allow_storage_sharing = event.storage_sharing
        self.profiles_forwarded_on_submission = event.config.profiles_forwarded
        self.dynamic_job_registration_enabled = event.config.dynamic_jobs
        self.ack_of_dynamic_jobs = event.config.dynamic_jobs_acknowledged
        self.forward_unknown_events = event.config.forward_unknown_events
        self.workloads = dict(event.workloads)
        self._later_ids = read_later_ids(event.extra.get(LATER_IDS))
        for workload, profiles in event.profiles.items():
            self.profiles[workload] = {name: dict(profile) for name, profile in profiles.items()}

    def receive(self, job: Job, profile: Mapping[str, Any] | None) -> HookJob:
        """Return a job that has arrived, for the engine."""
        received = HookJob.of_submitted(job, len(self.jobs))
        received.job_state = JobState.SUBMITTED
        known = self.profiles.setdefault(received.workload, {})
        if job.profile not in known:
            known[job.profile] = dict(profile or {})
        received.profile_dict = known[job.profile]
        self.nb_jobs_submitted += 1
        former = self.jobs.get(job.id)
        if former is None:
            self.nb_jobs_submitted_from_batsim += 1
        else:
            if former.job_state is JobState.IN_SUBMISSON:
                self.nb_jobs_in_submission -= 1
            received.metadata = former.metadata
            self.nb_jobs_submitted_from_scheduler += 1
        self.jobs[job.id] = received
        self._submitted[job.id] = job
        return received

    def time(self) -> float:
        """Return the time of the message in seconds, and what the scheduler has added by `consume_time`."""
        return self._now

    def consume_time(self, t: float) -> float:
        """Let the decision take `t` more seconds; later calls have the later time."""
        if self._plan is None:
            self._now += float(t)
        else:
            self._plan.take_time(float(t))
            self._now = self._plan.timestamp
        return self._now

    def wake_me_up_at(self, time: float) -> None:
        """Ask for a call of `onRequestedCall`."""
        plan = self._verbs("wake_me_up_at")
        if plan is not None:
            plan.call_at(time)

    def execute_job(self, job: Any, io_job: Mapping[str, Any] | None = None) -> None:
        """Start a job on `job.allocation`, with `job.mapping` or `job.storage_mapping` if it has one."""
        known = self._known("execute_job", _id("execute_job", job))
        if job.allocation is None:
            raise PlanError(f"execute_job: {displayed(job.id)} has no allocation")
        mapping, stores = getattr(job, "mapping", None), getattr(job, "storage_mapping", None)
        known.allocation = job.allocation
        known.state = JobState.RUNNING  # type: ignore[attr-defined]  # not job_state: as pybatsim does
        if mapping is not None:
            known.mapping = mapping  # type: ignore[attr-defined]
        if stores is not None:
            known.storage_mapping = stores  # type: ignore[attr-defined]
        self._start(job.id, _hosts("execute_job", job.allocation), mapping, stores, io_job)

    def execute_jobs(self, jobs: Iterable[Any], io_jobs: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Start jobs, each as `execute_job` does; `io_jobs` has additional input and output by job id."""
        for job in jobs:
            self.execute_job(job, None if io_jobs is None else io_jobs[job.id])

    def start_jobs(self, jobs: Iterable[Any], res: Mapping[str, Iterable[Any]]) -> None:
        """Start jobs on hosts: job id -> numbers or intervals. It sets no allocation."""
        for job in jobs:
            if _id("start_jobs", job) not in res:
                raise PlanError(f"start_jobs: no hosts are given for {displayed(job.id)}")
            self._start(job.id, _hosts("start_jobs", list(res[job.id])))

    def start_jobs_continuous(self, allocs: Iterable[tuple[Any, tuple[int, int]]]) -> None:
        """Start jobs, each from its first to its last host (pybatsim 2)."""
        for job, (first, last) in allocs:
            self._start(job.id, _hosts("start_jobs_continuous", [(first, last)]))

    def reject_jobs(self, jobs: Iterable[Any]) -> None:
        """Reject jobs that wait; there must be one."""
        self.reject_jobs_by_id([_id("reject_jobs", job) for job in jobs])

    def reject_jobs_by_id(self, job_ids: Collection[str]) -> None:
        """Reject the jobs of these ids; there must be one."""
        if not job_ids:
            raise PlanError("reject_jobs: the list is empty")
        plan = self._verbs("reject_jobs")
        for job_id in job_ids:
            known = self._known("reject_jobs", job_id)
            if plan is not None:
                plan.reject(self._submitted[job_id], "the scheduler rejected it")
            known.state = JobState.REJECTED  # type: ignore[attr-defined]  # not job_state: as pybatsim does
        self.nb_jobs_rejected += len(job_ids)

    def kill_jobs(self, jobs: Collection[Any]) -> None:
        """Kill jobs that run; there must be one. Those that have just ended are left out."""
        if not jobs:
            raise PlanError("kill_jobs: the list is empty")
        known = [self._known("kill_jobs", _id("kill_jobs", job)) for job in jobs]
        for job in jobs:
            job.job_state = JobState.IN_KILLING
        plan = self._verbs("kill_jobs")
        if plan is not None:
            plan.kill([self._submitted[job.id] for job in known if job.finish_time is None])

    def change_job_state(self, job: Any, state: Any) -> None:
        """Change Batsim's record of a job."""
        self._known("change_job_state", _id("change_job_state", job))
        if not isinstance(state, JobState):
            raise PlanError(f"change_job_state: the state must be a Job.State, not {shown(state)}")
        plan = self._verbs("change_job_state")
        if plan is not None:
            plan.change_state(self._submitted[job.id], state.name)
        self.jobs_manually_changed.add(job)

    def set_job_metadata(self, job_id: str, metadata: Any) -> None:
        """Attach a text to a job; an object is written as Python writes it."""
        known = self._known("set_job_metadata", job_id)
        plan = self._verbs("set_job_metadata")
        if plan is not None:
            plan.set_metadata(self._submitted[job_id], str(metadata))
        known.metadata = metadata

    def send_message_to_job(self, job: Any, message: str) -> None:
        """Send a text to a running job."""
        self._known("send_message_to_job", _id("send_message_to_job", job))
        plan = self._verbs("send_message_to_job")
        if plan is not None:
            plan.message(self._submitted[job.id], message)

    def set_resource_state(self, resources: Any, state: Any) -> None:
        """Switch hosts (a ProcSet, a text, or intervals) to a pstate."""
        plan = self._verbs("set_resource_state")
        try:
            pstate = int(state)
        except (TypeError, ValueError):
            raise PlanError(f"set_resource_state: the state must be a number, not {shown(state)}") from None
        if plan is not None:
            plan.set_pstate(_hosts("set_resource_state", resources), pstate)

    def request_consumed_energy(self) -> None:
        """Ask for the joules consumed so far: `onReportEnergyConsumed`."""
        plan = self._verbs("request_consumed_energy")
        if plan is not None:
            plan.ask_energy()

    def notify_registration_finished(self) -> None:
        """Declare that no more jobs will be registered."""
        plan = self._verbs("notify_registration_finished")
        if plan is not None:
            plan.finish_registration()

    def notify_registration_continue(self) -> None:
        """Revoke `notify_registration_finished`."""
        plan = self._verbs("notify_registration_continue")
        if plan is not None:
            plan.continue_registration()

    def register_profiles(self, workload_name: str, profiles: Mapping[str, Mapping[str, Any]]) -> None:
        """Register profiles by name for jobs of a workload, which may be new."""
        plan = self._verbs("register_profiles")
        for name, profile in profiles.items():
            if plan is not None:
                plan.register_profile(workload_name, name, profile)
            self.profiles.setdefault(workload_name, {})[name] = profile

    def register_job(
        self, id: str, res: int, walltime: float | None, profile_name: str, subtime: float | None = None
    ) -> HookJob:
        """Register a job whose profile is registered, and return it; it waits now, or once Batsim has submitted it."""
        profile = self.profiles.get(str(id).partition(self.WORKLOAD_JOB_SEPARATOR)[0], {}).get(profile_name)
        if profile is None:
            raise PlanError(
                f"register_job: {shown(id)} needs the profile {shown(profile_name)}, which its workload lacks"
            )
        members: dict[str, Any] = {"profile": profile_name, "id": id, "res": res, "walltime": walltime}
        members["subtime"] = self._now if subtime is None else subtime
        limit = None if walltime in (None, -1) else walltime
        submitted = Job(id, members["subtime"], res, limit, profile_name, members)
        plan = self._verbs("register_job")
        if plan is not None:
            plan.submit(submitted)
        job = HookJob.of_submitted(submitted, len(self.jobs))
        job.job_state = JobState.IN_SUBMISSON
        if self.ack_of_dynamic_jobs:
            self.nb_jobs_in_submission += 1
        else:
            self.nb_jobs_submitted += 1
            self.nb_jobs_submitted_from_scheduler += 1
        job.profile_dict = profile
        self.jobs[id] = job
        self._submitted[id] = submitted
        return job

    def resubmit_job(self, job: Any) -> HookJob:
        """Register a job again, under its id with "#1", "#2" ...; the metadata of the new job name the first one."""
        former = {} if job.metadata is None else dict(job.metadata)
        count = former.get("nb_resubmit", 0) + 1
        origin = job.id.partition(self.ATTEMPT_JOB_SEPARATOR)[0]
        while (new_id := f"{origin}{self.ATTEMPT_JOB_SEPARATOR}{count}") in self.jobs or new_id in self._later_ids:
            count += 1
        metadata = {**former, "parent_job": former.get("parent_job", job.id), "nb_resubmit": count}
        new_job = self.register_job(new_id, job.requested_resources, job.requested_time, job.profile)
        self.set_job_metadata(new_id, metadata)
        return new_job

    def publish_event(self, event: str) -> None:
        """Ignore a message for observers: there is no socket for events."""

    def warn(self, text: str) -> None:
        """Warn the user, for the object layer."""
        self._warn(text)

    # Names of pybatsim 2, for the same calls.
    submit_profiles = register_profiles
    submit_job = register_job
    notify_submission_finished = notify_registration_finished
    notify_submission_continue = notify_registration_continue

    @property
    def nb_jobs_received(self) -> int:
        """The number of jobs submitted so far, in pybatsim 2."""
        return self.nb_jobs_submitted

    def _start(
        self,
        job_id: str,
        hosts: HostSet,
        mapping: Mapping[Any, int] | None = None,
        stores: Mapping[str, int] | None = None,
        io_job: Mapping[str, Any] | None = None,
    ) -> None:
        self._known("execute_job", job_id)
        plan = self._verbs("execute_job")
        if plan is not None:
            positions = None if mapping is None else {int(key): int(value) for key, value in mapping.items()}
            extra = None if io_job is None else _additional(io_job)
            job = self._submitted[job_id]
            plan.start(job, hosts, positions, storage_mapping=stores, additional_io=extra)
        self.nb_jobs_scheduled += 1

    def _verbs(self, call: str) -> Plan | None:
        """Return the Plan; None, with a warning, where pybatsim does not send what is asked for."""
        if self._plan is None:
            self._warn(f"{call} has no effect here: pybatsim does not send it either")
        return self._plan

    def _known(self, call: str, job_id: Any) -> HookJob:
        job = self.jobs.get(job_id) if isinstance(job_id, str) else None
        if job is None:
            raise PlanError(f"{call}: no job {shown(job_id)} was submitted")
        return job


def _id(call: str, job: Any) -> str:
    """Return the id of a job; PlanError if it is none, such as an id."""
    job_id: object = getattr(job, "id", None)
    if not isinstance(job_id, str):
        raise PlanError(f"{call}: {shown(job)} is not a job")
    return job_id


def _described(host: DescribedHost) -> dict[str, Any]:
    """Return a host as SIMULATION_BEGINS has it."""
    members = {"id": host.id, "name": host.name, "state": host.state, "properties": dict(host.properties)}
    if host.zone_properties is not None:
        members["zone_properties"] = dict(host.zone_properties)
    return {**members, **host.extra}


def _hosts(call: str, value: Any) -> HostSet:
    """Return hosts that are given as a ProcSet, as a text, as a number, or as numbers and intervals. PlanError."""
    try:
        if isinstance(value, BitProcSet):
            return value.host_set
        if isinstance(value, ProcSet):
            return HostSet.from_procset(value)
        if isinstance(value, str):
            return HostSet.parse(value)
        return BitProcSet(*(value if isinstance(value, (list, tuple)) else [value])).host_set
    except (TypeError, ValueError) as error:
        raise PlanError(f"{call}: hosts must be a ProcSet or an interval set, not {shown(value)}: {error}") from None


def _additional(io_job: Mapping[str, Any]) -> AdditionalIo:
    """Return additional input and output as given to `execute_jobs`: `alloc`, `profile_name`, `profile`."""
    try:
        return AdditionalIo(HostSet.parse(str(io_job["alloc"])), io_job["profile_name"], io_job.get("profile"))
    except (KeyError, ValueError) as error:
        raise PlanError(f"execute_job: additional io: {error!r}") from None
