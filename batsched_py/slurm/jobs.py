"""Jobs as the controller keeps them: a request with its priority, state, times and allocation."""

from __future__ import annotations

from dataclasses import dataclass, field

from batsched_py.slurm.accounts import Association, Qos
from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.node_use import NodeAllocation
from batsched_py.slurm.priority_factors import PriorityFactors
from batsched_py.slurm.submission import BatchRequest

PENDING, RUNNING, SUSPENDED = "PENDING", "RUNNING", "SUSPENDED"
#: Priority of a held job.
HELD = 0


@dataclass(slots=True, eq=False)
class RequestShape:
    """A shape of requests that get the same offers from each node."""

    request: BatchRequest
    memory_per_cpu: int
    #: Is it one task with generic resources? Then nodes offer one task, so that the first of them is taken.
    is_single: bool
    #: Are only idle nodes offered?
    is_exclusive: bool
    #: Does it ask for generic resources?
    wants_gres: bool


@dataclass(slots=True, eq=False)
class SlurmJob:
    """A job, or a task of an array; times in seconds since time zero, `limit` in minutes.

    Attributes:
        sequence: order of submission, which breaks ties.
        key: name of the job for decisions: the name of the request, and `_TASK` for tasks of arrays.
        priorities: by name of partition, for jobs that name several.
        factors: what the priority was computed from last, by name of partition; empty under priority/basic.
    """

    sequence: int
    id: int
    key: str
    request: BatchRequest
    submitted: float
    partitions: tuple[SlurmPartition, ...]
    limit: int
    tasks: int
    min_nodes: int
    max_nodes: int
    task: int | None = None
    association: Association | None = None
    qos: Qos | None = None
    state: str = PENDING
    reason: str = ""
    priority: int = 0
    #: Set by hand: recalculations leave it.
    is_priority_fixed: bool = False
    is_held: bool = False
    nice: int = 0
    priorities: dict[str, int] = field(default_factory=dict)
    factors: dict[str, PriorityFactors] = field(default_factory=dict)
    begin: float | None = None
    deadline: float | None = None
    #: From when its age counts; None before.
    eligible: float | None = None
    started: float | None = None
    ended: float | None = None
    is_dependency_open: bool = True
    partition: SlurmPartition | None = None
    allocation: NodeAllocation | None = None
    restarts: int = 0
    #: For how long it was suspended, and since when it is.
    suspended: float = 0.0
    suspended_since: float | None = None
    #: Cpus of the allocation, for usage; and until when the usage is counted.
    used_until: float = 0.0
    exit_ok: bool = True
    grace_until: float | None = None
    #: The jobs that had to give way to it, until none of them runs.
    preempted: tuple[SlurmJob, ...] = ()
    #: What a suspended job keeps of its allocation, and the job that suspended it.
    kept: NodeAllocation | None = None
    suspended_by: str = ""
    #: When its nodes are free after a preemption, and whether it then pends again.
    complete_at: float | None = None
    is_requeued: bool = False
    #: What its request has in common with others, once it was asked for.
    shape: RequestShape | None = None
    #: The numbers of nodes that it asks for; `min_nodes` and `max_nodes` are also within the bounds of its partition.
    asked_nodes: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.asked_nodes = self.min_nodes, self.max_nodes

    def ask_nodes(self, least: int, most: int) -> None:
        """Ask for another number of nodes."""
        self.asked_nodes = self.min_nodes, self.max_nodes = least, most

    def enter(self, partition: SlurmPartition) -> None:
        """Look for nodes in a partition, within its bounds on their number."""
        self.partition = partition
        self.min_nodes, self.max_nodes = least, most = self.asked_nodes
        flags = self.qos.flags if self.qos is not None else ()
        if partition.min_nodes > least and "partitionminnodes" not in flags:
            self.min_nodes = min(partition.min_nodes, most)
        if partition.max_nodes is not None and partition.max_nodes < most and "partitionmaxnodes" not in flags:
            self.max_nodes = max(partition.max_nodes, self.min_nodes)

    @property
    def limit_end(self) -> float:
        """End of a running job by its limit, in whole seconds."""
        assert self.started is not None  # noqa: S101
        return int(self.started // 1) + self.limit * 60 + self.suspended

    @property
    def cpus(self) -> int:
        """Processors that it asks for."""
        return max(self.tasks * self.request.cpus_per_task, self.min_nodes)

    def priority_in(self, partition: SlurmPartition) -> int:
        """Return the priority in one of its partitions."""
        return self.priorities.get(partition.name, self.priority)
