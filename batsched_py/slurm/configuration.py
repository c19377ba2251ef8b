"""The configuration of a cluster, from slurm.conf, gres.conf and topology.conf: what the decisions depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

#: A time limit of no limit: a year, as Slurm plans with it. Minutes.
UNLIMITED: Final = 365 * 24 * 60


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """SchedulerParameters of slurm.conf(5), with its defaults; times in seconds."""

    batch_sched_delay: int = 3
    sched_interval: int = 60
    #: Microseconds.
    sched_min_interval: int = 2
    default_queue_depth: int = 100
    partition_job_depth: int = 0
    #: Without effect: a submission starts nothing here, with or without it.
    defer: bool = False
    assoc_limit_stop: bool = False
    preempt_youngest_first: bool = False
    pack_serial_at_end: bool = False
    kill_invalid_depend: bool = False
    bf_interval: int = 30
    bf_resolution: int = 60
    #: Minutes.
    bf_window: int = 1440
    #: By how many seconds each further window of ends is longer than the one before; 0 to double it.
    bf_window_linear: int = 0
    bf_max_job_test: int = 500
    bf_max_job_user: int = 0
    bf_max_job_part: int = 0
    bf_max_job_start: int = 0
    bf_min_age_reserve: int = 0
    bf_min_prio_reserve: int = 0
    bf_job_part_count_reserve: int = 0
    #: Without effect: the recordings of it are met without.
    bf_busy_nodes: bool = False
    bf_licenses: bool = False
    #: Without effect: a pass takes no time here.
    bf_continue: bool = False


@dataclass(frozen=True, slots=True)
class GresCount:
    """A number of generic resources of a name, and of a type (any if it is empty)."""

    name: str
    type: str
    count: int


@dataclass(frozen=True, slots=True)
class MemoryBounds:
    """Default and largest memory of jobs by processor or node, in megabytes; None is not stated."""

    def_per_cpu: int | None = None
    def_per_node: int | None = None
    max_per_cpu: int | None = None
    max_per_node: int | None = None


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node, and whether it takes jobs; memory in megabytes."""

    name: str
    cores: int = 1
    threads: int = 1
    memory: int = 1
    features: frozenset[str] = frozenset()
    gres: tuple[GresCount, ...] = ()
    weight: int = 1
    up: bool = True

    @property
    def cpus(self) -> int:
        """Processors: hardware threads of all cores."""
        return self.cores * self.threads


@dataclass(frozen=True, slots=True)
class SlurmPartition:
    """A partition; its nodes are bits by the order of the cluster's nodes, limits are minutes, grace seconds."""

    name: str
    nodes: int
    default: bool = False
    max_time: int = UNLIMITED
    default_time: int | None = None
    min_nodes: int = 0
    max_nodes: int | None = None
    job_factor: int = 1
    tier: int = 1
    grace: int = 0
    exclusive_user: bool = False
    #: Have all jobs whole nodes?
    exclusive: bool = False
    #: How many jobs that share cores may run on each.
    jobs_on_core: int = 1
    memory: MemoryBounds = MemoryBounds()
    preempt_mode: str | None = None
    qos: str | None = None
    up: bool = True


@dataclass(frozen=True, slots=True)
class Switch:
    """A leaf switch of the topology, with its nodes as bits."""

    name: str
    nodes: int


@dataclass(frozen=True, slots=True)
class SlurmConfiguration:
    """A cluster and the parameters of its scheduler; times in seconds unless they are named otherwise."""

    nodes: tuple[SlurmNode, ...]
    partitions: tuple[SlurmPartition, ...]
    scheduler: SchedulerOptions = field(default_factory=SchedulerOptions)
    backfill: bool = True
    linear: bool = False
    cr_memory: bool = False
    cr_lln: bool = False
    multifactor: bool = False
    weight_age: float = 0
    weight_fairshare: float = 0
    weight_job_size: float = 0
    weight_partition: float = 0
    weight_qos: float = 0
    weight_assoc: float = 0
    weight_tres: tuple[tuple[str, float], ...] = ()
    max_age: float = 7 * 24 * 3600
    calc_period: float = 300
    decay_half_life: float = 7 * 24 * 3600
    favor_small: bool = False
    small_relative_to_time: bool = False
    fair_tree: bool = True
    accounting: bool = False
    enforce: frozenset[str] = frozenset()
    enforce_part_limits: str = "NO"
    preempt: str = "none"
    preempt_mode: str = "OFF"
    gang: bool = False
    preempt_exempt: float = 0
    time_slice: float = 30
    #: Minutes.
    over_time_limit: int = 0
    cred_expire: float = 120
    memory: MemoryBounds = MemoryBounds()
    licences: tuple[tuple[str, int], ...] = ()
    switches: tuple[Switch, ...] = ()

    @property
    def all_nodes(self) -> int:
        """All nodes, as bits."""
        return (1 << len(self.nodes)) - 1

    @property
    def down_nodes(self) -> int:
        """Nodes that take no jobs, as bits."""
        return sum(1 << at for at, node in enumerate(self.nodes) if not node.up)

    @property
    def cpus(self) -> int:
        """Processors of the cluster."""
        return sum(node.cpus for node in self.nodes)

    def reserved_licences(self, wanted: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """Return the licences of a reservation; `ValueError` if the cluster has not as many."""
        here = dict(self.licences)
        for name, count in wanted:
            if count > here.get(name, 0):
                raise ValueError(
                    f"must be licences of the configuration, which has {here.get(name, 0)} of {name[:40]!r}"
                )
        return wanted

    def partition(self, name: str) -> SlurmPartition | None:
        """Return the partition of this name, if there is one."""
        return next((one for one in self.partitions if one.name == name), None)

    @property
    def default_partition(self) -> SlurmPartition | None:
        """The partition of jobs that name none."""
        return next((one for one in self.partitions if one.default), None)
