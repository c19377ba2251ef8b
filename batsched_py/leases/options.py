"""Options of the algorithm `leases`, by Haizea's names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from batsched_py.errors import OptionError
from batsched_py.leases.accounting.accounting import Stats
from batsched_py.leases.accounting.catalogue import PROBES, Probes
from batsched_py.leases.policies.admission import Admission
from batsched_py.leases.policies.catalogue import ADMISSION, HOSTS, PREEMPTION, PolicyChoice
from batsched_py.leases.policies.hosts import HostOrder
from batsched_py.leases.policies.makers import Policies
from batsched_py.leases.policies.preemption import Preemptability
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.settings import LeaseSettings
from batsched_py.scheduling.options import named, option

#: Options that may change while leases wait and run: rules for plans to come. Others are properties of the site, of
#: files on its hosts, or of what is recorded.
CHANGEABLE: Final = frozenset(
    {
        "backfilling",
        "backfilling_reservations",
        "suspension",
        "scheduling_threshold_factor",
        "force_scheduling_threshold",
        "threshold_includes_preparation",
        "migration",
        "policy_admission",
        "policy_preemption",
        "policy_host_selection",
        "victim_order",
        "unneeded_victims",
        "lease_failure_handling",
    }
)


@dataclass(frozen=True, slots=True)
class LeasesOptions:
    """Options by Haizea's names, with underscores for hyphens."""

    backfilling: Literal["off", "aggressive", "conservative", "intermediate"] = option(
        "aggressive", "number of best-effort leases with a planned start: none, one, all, some"
    )
    backfilling_reservations: int | None = option(None, "that number, with intermediate", minimum=1)
    suspension: Literal["none", "serial-only", "all"] = option(
        "all", "which leases may be suspended: none, those of one node, all"
    )
    suspend_rate: float = option(32.0, "MB/s at which memory is saved", minimum=1e-6)
    resume_rate: float = option(32.0, "MB/s at which memory is loaded", minimum=1e-6)
    suspendresume_exclusion: Literal["local", "global"] = option(
        "local", "where memory is saved: on each host, in one place"
    )
    scheduling_threshold_factor: float = option(
        1.0, "minimum run time before a suspension, as a multiple of its overheads", minimum=0
    )
    force_scheduling_threshold: float | None = option(None, "instead: minimum run time in seconds", minimum=0)
    threshold_includes_preparation: bool = option(False, "these overheads include the image transfer")
    override_suspend_time: float | None = option(None, "seconds to suspend a machine, regardless of memory", minimum=0)
    override_resume_time: float | None = option(None, "seconds to resume a machine, regardless of memory", minimum=0)
    migration: Literal["no", "yes", "yes-notransfer"] = option("no", "whether suspended leases may move to other hosts")
    migration_bandwidth: float = option(100.0, "Mb/s between hosts", minimum=1e-6)
    shutdown_time: float = option(0.0, "seconds from the end of a run until its hosts are free", minimum=0)
    enactment_overhead: float = option(0.0, "seconds for each command to a machine", minimum=0)
    policy_admission: PolicyChoice[Admission] = named("accept-all", "which leases may be scheduled", ADMISSION)
    policy_preemption: PolicyChoice[Preemptability] = named(
        "no-preemption",
        "leases to suspend for others: none, best-effort for reservations, deadline for each other",
        PREEMPTION,
    )
    policy_host_selection: PolicyChoice[HostOrder] = named("greedy", "which hosts are tried first", HOSTS)
    lease_preparation: Literal["unmanaged", "imagetransfer"] = option(
        "unmanaged", "whether images are transferred first"
    )
    imagetransfer_bandwidth: float = option(100.0, "Mb/s of the repository", minimum=1e-6)
    transfer_mechanism: Literal["unicast", "multicast"] = option("unicast", "a transfer for each node, or for all")
    avoid_redundant_transfers: bool = option(True, "leases share transfers of the same image")
    force_imagetransfer_time: float | None = option(None, "seconds of a transfer, regardless of size", minimum=0)
    diskimage_reuse: Literal["none", "image-caches"] = option("none", "hosts keep images for later leases")
    diskimage_cache_size: float = option(-1.0, "maximum MB of images kept on a host, -1: no limit", minimum=-1)
    victim_order: Literal["youngest", "oldest"] = option("youngest", "which leases are suspended first")
    unneeded_victims: Literal["spare", "stop"] = option("spare", "whether to spare leases that need not be suspended")
    estimates: Literal["exact", "original"] = option("exact", "exact overheads, or Haizea's estimate")
    probes: Probes = named("none", "probes, separated by blanks, whose data are written to tables", PROBES)
    stats: Stats = option("corrected", "values of probes for which Haizea has errors")
    overhead_jobs: bool = option(False, "represent suspensions and resumptions as jobs, `id#suspend1`")
    lease_failure_handling: Literal["cancel", "exit"] = option(
        "cancel", "if a job or its hosts fail: cancel the lease, or end the run"
    )
    tolerance: float = option(1e-3, "seconds by which Batsim's messages may be early or late", minimum=0)

    def __post_init__(self) -> None:
        if (self.backfilling == "intermediate") != (self.backfilling_reservations is not None):
            raise OptionError("backfilling_reservations must be given with backfilling=intermediate, and only then")

    def settings(self, *, stoppable: bool) -> LeaseSettings:
        """Return the rules of the scheduler; leases are not suspended unless jobs can be stopped and continued."""
        future = {"off": 0.0, "aggressive": 1.0, "conservative": math.inf}
        return LeaseSettings(
            future_leases=future.get(self.backfilling, self.backfilling_reservations or 0),
            stop_at_first=self.backfilling == "off",
            suspension=self.suspension if stoppable else "none",
            suspend_rate=self.suspend_rate,
            resume_rate=self.resume_rate,
            override_suspend=self.override_suspend_time,
            override_resume=self.override_resume_time,
            exclusion=self.suspendresume_exclusion,
            threshold_factor=self.scheduling_threshold_factor,
            forced_threshold=self.force_scheduling_threshold,
            threshold_includes_preparation=self.threshold_includes_preparation,
            migration=self.migration,
            migration_bandwidth=self.migration_bandwidth,
            shutdown_time=self.shutdown_time,
            enactment_overhead=self.enactment_overhead,
            estimates=self.estimates,
            victim_order=self.victim_order,
            drop_unneeded_victims=self.unneeded_victims == "spare",
        )

    def transfers(self) -> TransferSettings | None:
        """Return the settings of image transfers; None without transfers."""
        if self.lease_preparation == "unmanaged":
            return None
        cache = math.inf if self.diskimage_cache_size == -1 else self.diskimage_cache_size
        return TransferSettings(
            self.imagetransfer_bandwidth,
            self.transfer_mechanism,
            self.avoid_redundant_transfers,
            self.force_imagetransfer_time,
            cache if self.diskimage_reuse == "image-caches" else None,
        )

    def policies(self) -> Policies:
        """Return the policies of admission, preemption and host selection."""
        return Policies(self.policy_admission.make, self.policy_preemption.make, self.policy_host_selection.make)
