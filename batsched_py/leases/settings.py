"""Settings of the lease scheduler, with the names that Haizea gives them (H69)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """Settings of the scheduling of leases.

    Attributes:
        future_leases: best-effort leases that may hold a start in the future: 0 without backfilling, 1 aggressive,
            infinity conservative.
        stop_at_first: without backfilling, the queue is served no further than its first lease that cannot start.
        suspension: of which leases: none, those of one node, all.
        suspend_rate: MB/s; so is `resume_rate`.
        override_suspend: seconds for each machine, whatever its memory; so is `override_resume`.
        exclusion: which suspensions and resumptions come one after the other.
        threshold_factor: a lease that is cut must run at least so many times what its overheads take.
        forced_threshold: seconds that it must last instead.
        threshold_includes_preparation: the transfer of its image counts among those overheads.
        migration: whether a suspended lease may resume elsewhere: no; with transfers that take time; without.
        migration_bandwidth: Mb/s between hosts.
        shutdown_time: seconds from the end of a run until its hosts are free.
        shutdown_inside: an advance reservation is shut down within its interval, not after it.
        enactment_overhead: seconds for each command to a machine.
        estimates: what is expected of suspensions before a mapping is known, and held against the threshold: exact,
            or as Haizea estimates, which grows with the square of the nodes (H39).
        hold_cpu: machines that are suspended or resumed hold their CPU, as Haizea's do not.
        victim_order: who gives way first: the most preemptable, which with the ageing policy is the youngest; or the
            least, as with Haizea.
        honour_preemptible: leases that are not preemptible give way to nobody.
        drop_unneeded_victims: leases on hosts that a reservation does not use after all are left alone.
        replan_after_each: leases are planned anew after each early end, not after all those of an instant.
        never_later: a best-effort lease that is planned anew keeps its old place if the new one would be later.
        deadline_rules: "feasible" tries a second order, the earliest deadline first, before a deadline lease is
            refused, and moves all that could begin earlier when anything ends early; "original" does neither.
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
        assert self.future_leases >= 0, self.future_leases  # noqa: S101  # whoever reads options checks them
