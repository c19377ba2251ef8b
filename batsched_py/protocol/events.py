"""Events, from Batsim to a decision process: one frozen class for each, the same in every dialect."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job

#: Undocumented members, which are kept, passed on and written back.
Members = Mapping[str, Any]
NO_MEMBERS: Final[Members] = MappingProxyType({})

#: Final states of a job (`job_state`), as Batsim spells them.
COMPLETED_SUCCESSFULLY: Final = "COMPLETED_SUCCESSFULLY"
COMPLETED_FAILED: Final = "COMPLETED_FAILED"
COMPLETED_WALLTIME_REACHED: Final = "COMPLETED_WALLTIME_REACHED"
COMPLETED_KILLED: Final = "COMPLETED_KILLED"
REJECTED: Final = "REJECTED"
#: All of them, in the order of reports.
FINAL_STATES: Final = (COMPLETED_SUCCESSFULLY, COMPLETED_FAILED, COMPLETED_WALLTIME_REACHED, COMPLETED_KILLED, REJECTED)

#: WRENCH's `kill_reason` of a job that its user cancelled while it ran or waited.
CANCELLED_BY_USER: Final = "terminated by users"

#: Kinds of NOTIFY from Batsim that batsched-py interprets; any other kind is legal and kept.
NO_MORE_STATIC_JOB: Final = "no_more_static_job_to_submit"
NO_MORE_EXTERNAL_EVENT: Final = "no_more_external_event_to_occur"
MACHINE_AVAILABLE: Final = "event_machine_available"
MACHINE_UNAVAILABLE: Final = "event_machine_unavailable"

#: Kinds of NOTIFY to Batsim, under their v4 names.
REGISTRATION_FINISHED: Final = "registration_finished"
CONTINUE_REGISTRATION: Final = "continue_registration"


class DescribedHost(Struct, frozen=True):
    """A host as SIMULATION_BEGINS describes it.

    Attributes:
        id: its number in interval sets.
        name: its name in the platform file.
        state: idle, computing, sleeping, switching_on, switching_off or unavailable.
        properties: of the host, in the platform file; values are strings.
        zone_properties: of its zone; None before Batsim 4.0, which sends none.
    """

    id: int
    name: str
    state: str
    properties: Members
    zone_properties: Members | None = None
    extra: Members = NO_MEMBERS


class Config(Struct, frozen=True):
    """Batsim's configuration, read from either spelling; `members` is the original object.

    Batsim 5 sends none: the configuration follows from the requested features. `static_jobs` is False if it has no
    workload, and will not announce the submission of the last static job.
    """

    redis: bool = False
    redis_hostname: str = "127.0.0.1"
    redis_port: int = 6379
    redis_prefix: str = "default"
    profiles_forwarded: bool = False
    dynamic_jobs: bool = False
    dynamic_jobs_acknowledged: bool = False
    profile_reuse: bool = False
    forward_unknown_events: bool = False
    scheduler_config: str = ""
    members: Members = NO_MEMBERS
    static_jobs: bool = True

    @property
    def forgets_profiles(self) -> bool:
        """True if Batsim drops a profile with the first of its jobs that ends: versions before 4 have no such key."""
        return self.dynamic_jobs and self.members.get("profile-reuse-enabled") is False

    @property
    def numbered_jobs(self) -> bool:
        """True if Batsim reads the name of a job ("12" of "w0!12") as an integer: Batsim 1, whose keys are nested."""
        return "job_submission" in self.members


class SimulationBegins(Struct, frozen=True):
    """The first event: the hosts, the configuration, the static workloads with all their profiles (v3 and later)."""

    timestamp: float
    resources: tuple[DescribedHost, ...]
    storages: tuple[DescribedHost, ...] = ()
    compute_sharing: bool = False
    storage_sharing: bool = True
    config: Config = Config()
    workloads: Mapping[str, str] = NO_MEMBERS
    profiles: Mapping[str, Mapping[str, Members]] = NO_MEMBERS
    extra: Members = NO_MEMBERS


class SimulationEnds(Struct, frozen=True):
    """The last event; the reply is empty, and both sides close."""

    timestamp: float
    extra: Members = NO_MEMBERS


class JobSubmitted(Struct, frozen=True):
    """A job has arrived. `job` is None if its description is in Redis; `profile` only with profile forwarding."""

    timestamp: float
    job_id: str
    job: Job | None
    profile: Members | None = None
    extra: Members = NO_MEMBERS


class JobCompleted(Struct, frozen=True):
    """A job has ended by itself, by its walltime, or (v3 and later) killed; its hosts are free.

    `hosts` is None in v1.4 and WRENCH, which do not send them; only these have `status` and `kill_reason`. A job that
    waits ends with the reason CANCELLED_BY_USER.
    """

    timestamp: float
    job_id: str
    state: str
    return_code: int | None = None
    hosts: HostSet | None = None
    status: str | None = None
    kill_reason: str | None = None
    extra: Members = NO_MEMBERS


class Progress(Struct, frozen=True):
    """Progress of a killed job: a leaf has `progress` in [0, 1], an inner node the step that was running.

    Attributes:
        profile: name of the profile, in the job's workload.
        progress: completed share of a delay or of a parallel task; Batsim sends 0 for all other types.
        step: place in the sequence, counted from 0 through all repetitions; -1 if it had not begun.
        current: that step's own progress.
        repetition: repetition of the sequence, from 0, in which `step` is then counted (Batsim 5); None if it is not
            distinguished.
    """

    profile: str
    progress: float | None = None
    step: int | None = None
    current: Progress | None = None
    repetition: int | None = None


class JobKilled(Struct, frozen=True):
    """A KILL_JOB is done: all its jobs have ended. `progress` has the jobs that it killed.

    The message may lack the member `job_progress` (first example of v1.4's document): `has_progress` is then False.
    """

    timestamp: float
    job_ids: tuple[str, ...]
    progress: Mapping[str, Progress] = NO_MEMBERS
    extra: Members = NO_MEMBERS
    has_progress: bool = True

    @property
    def killed_ids(self) -> Collection[str]:
        """Ids of the killed jobs. Without progress in the message: all jobs, including those that had ended before."""
        return self.progress if self.has_progress else self.job_ids


class ResourceStateChanged(Struct, frozen=True):
    """A SET_RESOURCE_STATE is done for all its hosts; `state` is the pstate's number as text.

    `turned` is True if hosts were switched on or off, which Batsim 5 distinguishes from a change of computing pstates.
    """

    timestamp: float
    hosts: HostSet
    state: str
    extra: Members = NO_MEMBERS
    turned: bool = False


class RequestedCall(Struct, frozen=True):
    """A CALL_ME_LATER is due; only Batsim 5 names it, and marks the last one of a periodic call."""

    timestamp: float
    extra: Members = NO_MEMBERS
    call_id: str = ""
    last: bool = False


class FromJobMessage(Struct, frozen=True):
    """A message of a running job (FROM_JOB_MSG): `message` is any JSON value."""

    timestamp: float
    job_id: str
    message: Any
    extra: Members = NO_MEMBERS


class Query(Struct, frozen=True):
    """A question, in either direction: name of the question -> its arguments."""

    timestamp: float
    requests: Mapping[str, Any]


class Answer(Struct, frozen=True):
    """The reply to a Query, in either direction; `values` are those of the message, unchanged."""

    timestamp: float
    values: Members

    @property
    def consumed_energy(self) -> float | None:
        """Joules since the start, if they were requested: v1.4 swaps the two words and its document has a string."""
        value = self.values.get("consumed_energy", self.values.get("energy_consumed"))
        try:
            joules = float(value)
        except (TypeError, ValueError, OverflowError):
            return None
        return joules if math.isfinite(joules) else None


class EventSource(Struct, frozen=True):
    """The external event of Batsim 5 that a notice was read from: its id ("ee0!3") and its text."""

    id: str
    text: str


class Notify(Struct, frozen=True):
    """A notice, in either direction. `hosts` are those of a machine event; `members` is the whole data.

    `source` is set if it was an external event of Batsim 5, which has a free text.
    """

    timestamp: float
    kind: str
    hosts: HostSet | None = None
    members: Members = NO_MEMBERS
    source: EventSource | None = None


class ProbeData(Struct, frozen=True):
    """The measurement of a probe (Batsim 5): joules since the start, although Batsim calls it power.

    Attributes:
        probe_id: of the probe.
        hosts: measured hosts.
        values: joules of each of them, or one value if `aggregated`.
        aggregated: True if `values` is the sum or the mean of the hosts.
    """

    timestamp: float
    probe_id: str
    hosts: HostSet
    values: tuple[float, ...]
    aggregated: bool = False
    extra: Members = NO_MEMBERS


class Nop(Struct, frozen=True):
    """No event, as in the seed document; on the wire it is an empty list of events."""

    timestamp: float


class Unknown(Struct, frozen=True):
    """An event of an unknown type: kept, passed to the algorithm, otherwise ignored."""

    timestamp: float
    type: str
    data: Members


Event = (
    SimulationBegins
    | SimulationEnds
    | JobSubmitted
    | JobCompleted
    | JobKilled
    | ResourceStateChanged
    | RequestedCall
    | FromJobMessage
    | Query
    | Answer
    | Notify
    | ProbeData
    | Nop
    | Unknown
)
