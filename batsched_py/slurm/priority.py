"""Priorities of jobs: priority/basic and priority/multifactor.

Age and fair share are computed at submission and at the recalculations of each PriorityCalcPeriod; the factors are
those of Slurm's page priority_multifactor.html.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from batsched_py.slurm.accounts import Accounts, Association
from batsched_py.slurm.configuration import SlurmConfiguration, SlurmPartition
from batsched_py.slurm.fair_share import (
    AssociationShare,
    association_usages,
    classic_shares,
    decay,
    fair_tree_shares,
    user_factors,
)
from batsched_py.slurm.jobs import HELD, SlurmJob
from batsched_py.slurm.priority_factors import PriorityFactors

#: Priority of the first job under priority/basic; each further job gets one less.
FIRST: Final = 4294901759


class JobPriorities:
    """Priorities of the jobs of one cluster, and the usage of its users."""

    def __init__(self, configuration: SlurmConfiguration, accounts: Accounts) -> None:
        self._configuration, self._accounts = configuration, accounts
        self._next = FIRST
        self._cpus = configuration.cpus
        self._largest_factor = max(one.job_factor for one in configuration.partitions)
        self._best_qos = max(one.priority for one in accounts.qos.values())
        every = [*accounts.by_account.values(), *accounts.users()]
        self._best_association = max(one.priority for one in every)
        #: Processors and megabytes of each partition, by name.
        self._sizes = {one.name: _size(configuration, one) for one in configuration.partitions}
        #: Fair-share factors of users, by the `id()` of their association.
        self._fair: dict[int, float] = {}
        #: Usages and shares of associations at the last recalculation, by the `id()` of the association.
        self._usages = association_usages(accounts)
        self.shares: dict[int, AssociationShare] = {}
        self._find_factors()
        self._last = 0.0
        #: Has a command changed jobs since the last recalculation?
        self.is_outdated = False

    def set_first(self, job: SlurmJob, now: float) -> None:
        """Set the priority of a job that is submitted or released."""
        if self._configuration.multifactor:
            self.set_again(job, now)
            return
        job.priority, self._next = self._next - job.nice, self._next - 1

    def set_again(self, job: SlurmJob, now: float) -> None:
        """Compute the priority of a job under priority/multifactor; those that are held or set by hand stay."""
        if job.is_priority_fixed or job.is_held or not self._configuration.multifactor:
            job.priority = HELD if job.is_held else job.priority
            return
        job.factors = {one.name: self._factors(job, one, now) for one in job.partitions}
        job.priorities = {name: one.priority for name, one in job.factors.items()}
        job.priority = max(job.priorities.values())

    @property
    def may_change(self) -> bool:
        """May the next recalculation change priorities? Age and fair share do, and commands that changed jobs."""
        configuration = self._configuration
        is_timed = configuration.accounting and bool(configuration.weight_age or configuration.weight_fairshare)
        return configuration.multifactor and (is_timed or self.is_outdated)

    def recalculate(self, pending: Iterable[SlurmJob], running: Iterable[SlurmJob], now: float) -> bool:
        """Decay and add usage up to now, and compute the priorities of the pending jobs anew if they may change.

        Returns:
            whether they may have changed.
        """
        configuration = self._configuration
        if configuration.accounting:
            decay(self._accounts, now - self._last, configuration.decay_half_life)
            for job in running:
                self.add_usage(job, now)
            self._find_factors()
        self._last = now
        if not self.may_change:
            return False
        self.is_outdated = False
        for job in pending:
            self.set_again(job, now)
        return True

    def add_usage(self, job: SlurmJob, now: float) -> None:
        """Add the usage of a running job since it was counted last."""
        seconds = max(0.0, now - job.used_until)
        job.used_until = now
        if job.association is not None and job.allocation is not None:
            life = self._configuration.decay_half_life
            factor = 0.5 ** (seconds / life) if life > 0 else 1.0
            job.association.usage += job.allocation.cpus(self._configuration.nodes) * seconds * factor

    def _find_factors(self) -> None:
        usages = association_usages(self._accounts)
        if self._configuration.fair_tree:
            self.shares = fair_tree_shares(self._accounts, usages)
        else:
            self.shares = classic_shares(self._accounts, usages, self._usages)
        self._fair, self._usages = user_factors(self._accounts, self.shares), usages

    def _factors(self, job: SlurmJob, partition: SlurmPartition, now: float) -> PriorityFactors:
        configuration, largest, association = self._configuration, self._largest_factor, job.association
        qos = fair = assoc = 0.0
        if job.qos is not None and self._best_qos:
            qos = configuration.weight_qos * job.qos.priority / self._best_qos
        if association is not None:
            fair = configuration.weight_fairshare * self._fair.get(id(association), 0.0)
            assoc = configuration.weight_assoc * self._association(association)
        return PriorityFactors(
            configuration.weight_age * self._age(job, now),
            configuration.weight_job_size * self._size(job),
            configuration.weight_partition * (partition.job_factor / largest if largest else 0),
            qos,
            fair,
            assoc,
            tuple((name, weight * self._tres(job, partition, name)) for name, weight in configuration.weight_tres),
            job.nice,
        )

    def _age(self, job: SlurmJob, now: float) -> float:
        if not self._configuration.accounting or job.eligible is None or now < job.eligible:
            return 0.0
        return min((int(now) - int(job.eligible)) / self._configuration.max_age, 1.0)

    def _size(self, job: SlurmJob) -> float:
        configuration = self._configuration
        nodes = job.min_nodes / len(configuration.nodes)
        if configuration.small_relative_to_time:
            factor = min(nodes / job.limit, 1.0)
        else:
            factor = (nodes + job.cpus / self._cpus) / 2
        return 1 - factor if configuration.favor_small else factor

    def _association(self, association: Association) -> float:
        here = next((one.priority for one in association.path() if one.priority), 0)
        return here / self._best_association if self._best_association else 0.0

    def _tres(self, job: SlurmJob, partition: SlurmPartition, name: str) -> float:
        cpus, most = self._sizes[partition.name]
        if name == "cpu":
            return job.cpus / cpus
        if name == "mem":
            memory = job.request.mem_per_node or (job.request.mem_per_cpu or 0) * job.cpus
            return min(memory / most, 1.0) if most else 0.0  # nodes may have RealMemory=0
        return 0.0


def _size(configuration: SlurmConfiguration, partition: SlurmPartition) -> tuple[int, int]:
    """Return the processors and megabytes of a partition."""
    nodes = [node for at, node in enumerate(configuration.nodes) if partition.nodes >> at & 1]
    return sum(node.cpus for node in nodes), sum(node.memory for node in nodes)
