"""Random starts on random hosts."""

import random
from dataclasses import dataclass
from typing import Literal

from batsched_py.api import HostSet, Job, OptionError, Placement, PlacementOptions, Plan, Scheduler, View, option


@dataclass(frozen=True, slots=True)
class RandomOptions(PlacementOptions):
    """The seed, and the hosts to choose from."""

    seed: int = option(0, "the same seed makes the same decisions")
    hosts: Literal["free", "any"] = option("free", "take free hosts, or any: Batsim must share them between jobs")


class RandomFit(Scheduler[RandomOptions]):
    """Start whatever fits, in random order on random hosts.

    A large job may wait forever. With `hosts=any` each job starts when it arrives, on hosts that may already run other
    jobs. This needs Batsim's option --enable-compute-sharing.
    """

    name = "random"
    places_tasks = True
    foresight = "promises"
    source = "batsched's `random` and pybatsim's `randomSched`, which take any hosts; on free ones, a base line."

    def setup(self, view: View) -> None:
        if self.options.hosts == "any" and not view.compute_sharing:
            raise OptionError(f"option hosts of {self.name}: any needs Batsim's option --enable-compute-sharing")
        if self.options.selection.name != "lowest":
            raise OptionError(f"option selection of {self.name}: hosts are drawn, and not selected")
        self.placement = Placement(self.options, view)
        self.random = random.Random(self.options.seed)

    def decide(self, view: View, plan: Plan) -> None:
        self.placement.refuse(view, plan)
        candidates = list(view.queue) if view.hosts_changed else list(view.arrived)
        self.random.shuffle(candidates)
        shared, anywhere = self.options.hosts == "any", self.options.by_number
        usable = view.all_hosts - view.unavailable - view.asleep - view.switching if shared else plan.free
        for job in candidates:
            if job.demand is not None:
                self._start_tasks(job, plan)
                usable = usable if shared else plan.free
                continue
            allowed = usable if anywhere else usable & self.placement.eligible_now(job)
            if job.size > len(allowed):
                plan.hold(job, self.placement.why_not(job, usable), "constraint")
                continue
            hosts = HostSet.from_ids(self.random.sample(list(allowed), job.size))
            plan.start(job, hosts)
            if not shared:
                usable -= hosts

    def _start_tasks(self, job: Job, plan: Plan) -> None:
        """Start a job with a demand where its tasks are packed, which is not at random."""
        placed = self.placement.place(job, plan)
        if placed is None:
            plan.hold(job, self.placement.why_not(job, plan.free), "constraint")
        else:
            plan.start(job, placed)
