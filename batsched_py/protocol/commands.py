"""Commands, from a decision process to Batsim: one frozen class for each, the same in every dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.host_room import Places
from batsched_py.model.job import Job
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    REJECTED,
    Answer,
    Members,
    Nop,
    Notify,
    Query,
)

#: The state that CHANGE_JOB_STATE gives a waiting control job.
RUNNING: Final = "RUNNING"
#: States that CHANGE_JOB_STATE may name in v1.4.
SETTABLE_STATES_V14: Final = frozenset({"NOT_SUBMITTED", RUNNING, COMPLETED_SUCCESSFULLY, COMPLETED_KILLED, REJECTED})
#: The same in v4: real Batsim refuses COMPLETED_FAILED, which its document lists.
SETTABLE_STATES: Final = SETTABLE_STATES_V14 | {COMPLETED_WALLTIME_REACHED}


class AdditionalIo(Struct, frozen=True):
    """Input and output that runs together with a job: its own profile on its own hosts, storage hosts too.

    `profile` is None if the job's workload has a profile of that name already; otherwise the name must be new there.
    """

    hosts: HostSet
    profile_name: str
    profile: Members | None = None


#: Values that a probe reports: of each host, their sum or their mean.
ProbeSummary = Literal["each", "sum", "mean"]
#: Strategies of Batsim 5 for executors without a mapping: one on each host, in turn, or as many as a host has cores.
ExecutorPlacement = Literal["spread", "fill"]


class PlacedProfile(Struct, frozen=True):
    """The hosts of one profile of a sequence, other than those of the job (Batsim 5)."""

    name: str
    hosts: HostSet
    mapping: Mapping[int, int] | None = None
    placement: ExecutorPlacement = "spread"


class ExecuteJob(Struct, frozen=True):
    """The start of a submitted job on these hosts, with at most one of the three extras.

    `mapping` places executor i on the mapping[i]-th host of `hosts`; `storage_mapping` gives labels their hosts.
    Batsim 5 alone has `placement`, of executors without a mapping, and `overrides`. `places` are those of tasks that
    may share their hosts with others.
    """

    timestamp: float
    job_id: str
    hosts: HostSet
    mapping: Mapping[int, int] | None = None
    storage_mapping: Mapping[str, int] | None = None
    additional_io: AdditionalIo | None = None
    placement: ExecutorPlacement = "spread"
    overrides: tuple[PlacedProfile, ...] = ()
    places: Places = ()


class RejectJob(Struct, frozen=True):
    """The final rejection of a submitted job."""

    timestamp: float
    job_id: str


class KillJob(Struct, frozen=True):
    """The kill of running jobs; answered by their completions and one JobKilled."""

    timestamp: float
    job_ids: tuple[str, ...]


class CallMeLater(Struct, frozen=True):
    """The request for a RequestedCall at `at`, strictly later than now. It cannot be cancelled.

    Batsim 5 returns `call_id` in the event; it rounds `at` up to whole milliseconds.
    """

    timestamp: float
    at: float
    call_id: str = ""


class CallPeriodically(Struct, frozen=True):
    """The request for a RequestedCall at multiples of `period` seconds, `times` times or until stopped (Batsim 5)."""

    timestamp: float
    call_id: str
    period: float
    times: int | None = None


class StopCalls(Struct, frozen=True):
    """The end of periodic calls (Batsim 5)."""

    timestamp: float
    call_id: str


class CreateProbe(Struct, frozen=True):
    """The request to report the energy of hosts each `period` seconds, `times` times or until stopped (Batsim 5).

    `summary` selects the joules of each host, their sum or their mean.
    """

    timestamp: float
    probe_id: str
    hosts: HostSet
    period: float
    times: int | None = None
    summary: ProbeSummary = "each"


class StopProbe(Struct, frozen=True):
    """The end of a probe (Batsim 5)."""

    timestamp: float
    probe_id: str


class StopSimulation(Struct, frozen=True):
    """The immediate end of the simulation, even if jobs wait or run (Batsim 5)."""

    timestamp: float


class RegisterJob(Struct, frozen=True):
    """The submission of a job by the decision process (v1.4: SUBMIT_JOB).

    `job` is None if it is in Redis; `profile` is sent in v1.4 only.
    """

    timestamp: float
    job_id: str
    job: Job | None
    profile: Members | None = None


class RegisterProfile(Struct, frozen=True):
    """The addition of a profile to a workload, which is created if new (v1.4: SUBMIT_PROFILE)."""

    timestamp: float
    workload: str
    name: str
    profile: Members


class SetResourceState(Struct, frozen=True):
    """The switch of hosts to a pstate (its number as text); needs energy in Batsim 1 to 4.

    `turns` is True if it switches all of them on, or all off, which is another command in Batsim 5.
    """

    timestamp: float
    hosts: HostSet
    state: str
    turns: bool = False


class SetJobMetadata(Struct, frozen=True):
    """A text without double quotes for a job; Batsim writes it to its jobs file (not in v1.4)."""

    timestamp: float
    job_id: str
    metadata: str


class ChangeJobState(Struct, frozen=True):
    """The change of Batsim's state of a control job; starts and stops nothing."""

    timestamp: float
    job_id: str
    state: str
    kill_reason: str | None = None


class ToJobMessage(Struct, frozen=True):
    """A text sent to a running job (TO_JOB_MSG)."""

    timestamp: float
    job_id: str
    message: str


Command = (
    ExecuteJob
    | RejectJob
    | KillJob
    | CallMeLater
    | CallPeriodically
    | StopCalls
    | CreateProbe
    | StopProbe
    | StopSimulation
    | RegisterJob
    | RegisterProfile
    | SetResourceState
    | SetJobMetadata
    | ChangeJobState
    | ToJobMessage
    | Query
    | Answer
    | Notify
    | Nop
)
