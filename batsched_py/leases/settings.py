"""Settings of the lease scheduler (H69)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """Settings of the scheduling of leases.

    Attributes:
        future_leases: the number of best-effort leases that may have a planned start in the future: 0 without
            backfilling, 1 for aggressive, infinity for conservative backfilling.
        stop_at_first: without backfilling, stop serving the queue at the first lease that cannot start.
        suspension: the leases that may be suspended: none, those with one node, all.
        suspend_rate, resume_rate: MB/s.
        override_suspend, override_resume: seconds for each machine, regardless of its memory; None to compute them.
        exclusion: the suspensions and resumptions that are serialized: those on one host, or all.
        threshold_factor: the shortest run of a cut lease, as a multiple of its overheads.
        forced_threshold: the shortest run of a cut lease in seconds, instead of `threshold_factor`.
        threshold_includes_preparation: True if the transfer of the image is one of these overheads.
        migration: whether a suspended lease may resume on other hosts: no, with transfers, or without transfers.
        migration_bandwidth: Mb/s between hosts.
        shutdown_time: seconds from the end of a run until its hosts are free.
        shutdown_inside: True if an advance reservation is shut down within its interval, False for afterwards.
        enactment_overhead: seconds for each command to a machine.
        estimates: the estimated duration of suspensions before a mapping is known, also for the threshold: exact, or
            as in Haizea, which grows with the square of the number of nodes (H39).
        hold_cpu: True if machines hold their CPU while they are suspended or resumed; Haizea's do not.
        victim_order: "youngest" preempts the lease with the highest score first, which the ageing policy gives to the
            youngest; "oldest" the one with the lowest score, as in Haizea.
        honour_preemptible: True to never preempt leases that are not preemptible.
        drop_unneeded_victims: True to spare victims whose hosts the reservation does not use.
        replan_after_each: True to replan after each early end, False after all early ends of an instant.
        never_later: True if a replanned best-effort lease keeps its former place when the new one would be later.
        deadline_rules: "feasible" also tries the order of deadlines before it refuses a deadline lease, and moves all
            leases that could begin earlier after any early end; "original" does neither.
    """

    future_leases: float = 1
    stop_at_first: bool = False
    suspension: Literal["none", "serial-only", "all"] = "all"
    suspend_rate: float = 32.0
    resume_rate: float = 32.0
    override_suspend: float | None = None
    override_resume: float | None = None
    exclusion: Literal["local", "global"] = "local"
    threshold_factor: float = 1.0
    forced_threshold: float | None = None
    threshold_includes_preparation: bool = False
    migration: Literal["no", "yes", "yes-notransfer"] = "no"
    migration_bandwidth: float = 100.0
    shutdown_time: float = 0.0
    shutdown_inside: bool = True
    enactment_overhead: float = 0.0
    estimates: Literal["exact", "original"] = "exact"
    hold_cpu: bool = True
    victim_order: Literal["youngest", "oldest"] = "youngest"
    honour_preemptible: bool = True
    drop_unneeded_victims: bool = True
    replan_after_each: bool = False
    never_later: bool = True
    deadline_rules: Literal["feasible", "original"] = "feasible"

    def __post_init__(self) -> None:
        assert self.future_leases >= 0, self.future_leases  # noqa: S101  # checked by the reader of options
