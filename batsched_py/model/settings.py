"""Settings of a simulation: Batsim's command line options under batsched-py's names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.features import NO_FEATURES, Features
from batsched_py.model.platform import DEFAULT_MASTER
from batsched_py.model.step_signal import StepSignal
from batsched_py.text.representation import Brief

#: Jobs on failing hosts: they continue; they end as failed; they end as failed and are resubmitted.
OnFailure = Literal["ignore", "kill", "requeue"]
#: Jobs with common links or hosts share them, as in Batsim; each job runs as if it were alone.
Network = Literal["sharing", "alone"]
NETWORK: Final[tuple[Network, ...]] = ("sharing", "alone")
#: Batsim's default prefix of keys in Redis.
DEFAULT_PREFIX: Final = "default"
#: Default of `max_calls`.
MOST_CALLS: Final = 10_000
ON_FAILURE: Final[tuple[OnFailure, ...]] = ("ignore", "kill", "requeue")


class Settings(Brief, frozen=True, kw_only=True):
    """Options of a simulation; Batsim's options in parentheses.

    Attributes:
        protocol: protocol and simulated Batsim: "v4", "v1.4" for Batsim 1.4, or "v5" for Batsim 5, where the scheduler
            requests dynamic jobs, their acknowledgement, profiles and their reuse: these settings then appear in
            `features`, for the session's requests, and have no effect by themselves.
        workload_names: names of the workloads, in order; None for Batsim's defaults (see `generation`).
        machines: limits the compute hosts to the first N in lexicographic order (--mmax); None for all.
        master_host: name of the host that runs the scheduler and no jobs (-m).
        roles: host name -> master, storage or compute_node, of hosts without one in the platform (--add-role-to-hosts).
        energy: account for energy and allow changes of power states (-E).
        compute_sharing: several jobs may run on one host (--enable-compute-sharing).
        storage_sharing: several jobs may run on one storage host (not --disable-storage-sharing).
        dynamic_jobs: the scheduler may register jobs (--enable-dynamic-jobs).
        acknowledge_dynamic_jobs: answer each registered job by JOB_SUBMITTED (--acknowledge-dynamic-jobs); None for
            Batsim's default, which is yes in v1.4 and no in v4.
        forward_profiles: JOB_SUBMITTED carries the profile (--forward-profiles-on-submission).
        profile_reuse: keep a profile after the end of its first job (--enable-profile-reuse); always so in v1.4.
        scheduler_config: text passed to the scheduler unchanged (--sched-cfg).
        external_events: events of machines, see `traces.event_file` (--events).
        on_failure: treatment of jobs on failing hosts; "ignore" is Batsim's.
        forward_unknown_events: forward events of other types (--forward-unknown-events).
        network: whether jobs with common links and hosts slow each other down; "sharing" is Batsim's behaviour.
        simgrid_config: (name, value) of items of SimGrid's configuration (--sg-cfg), see `contention.simgrid_config`.
        message_latency: messages between Batsim's own parts take time on the platform's links, as in Batsim.
        redis_hostname, redis_port, redis_prefix: sent to the scheduler if the simulation has a store (--redis-hostname,
            --redis-port, --redis-prefix).
        trace_machine_states: write the trace of machine states if traces are enabled (not
            --disable-machine-state-tracing).
        max_calls: number of consecutive calls that end a run in which nothing else happens or is pending; 0 for no
            limit.
        workflow_jobs_limit: number of jobs of a workflow that are submitted and have not ended; 0 for no limit
            (--workflow-jobs-limit).
        feedback: submit jobs with the member `submitted_after` when the job that they follow was submitted or has ended
            (--feedback); otherwise at their times, as Batsim does.
        carbon, price: the carbon intensity and the price of energy over time, by which the run is measured; None if
            unknown. They do not change the simulation.
        allow_oversized: send jobs that request more hosts than exist, as Batsim does: they must be rejected.
    """

    protocol: str = "v4"
    workload_names: tuple[str, ...] | None = None
    machines: int | None = None
    master_host: str = DEFAULT_MASTER
    roles: Mapping[str, str] = MappingProxyType({})
    energy: bool = False
    compute_sharing: bool = False
    storage_sharing: bool = True
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool | None = None
    forward_profiles: bool = False
    profile_reuse: bool = False
    scheduler_config: str = ""
    external_events: tuple[ExternalEvent, ...] = ()
    on_failure: OnFailure = "ignore"
    forward_unknown_events: bool = False
    network: Network = "sharing"
    simgrid_config: tuple[tuple[str, str], ...] = ()
    message_latency: bool = False
    redis_hostname: str = "127.0.0.1"
    redis_port: int = 6379
    redis_prefix: str = DEFAULT_PREFIX
    trace_machine_states: bool = True
    max_calls: int = MOST_CALLS
    allow_oversized: bool = False
    workflow_jobs_limit: int = 0
    feedback: bool = False
    carbon: StepSignal | None = None
    price: StepSignal | None = None

    @property
    def features(self) -> Features:
        """The features to request from Batsim 5 for these options."""
        if self.protocol != "v5":
            return NO_FEATURES
        return Features(
            dynamic_registration=self.dynamic_jobs,
            profile_reuse=self.profile_reuse,
            acknowledge_dynamic_jobs=bool(self.acknowledge_dynamic_jobs),
            forward_profiles_on_job_submission=self.forward_profiles,
        )


#: Settings that are the content of a file, which descriptions of runs name instead.
FROM_FILES: Final = frozenset({"external_events", "carbon", "price"})
#: Batsim without any option.
DEFAULTS: Final = Settings()
