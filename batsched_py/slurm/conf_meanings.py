"""Meanings of the parameters that are obeyed, in one line each. Source: slurm.conf(5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from batsched_py.slurm.conf_review import Effect

#: Parameters of the cluster and of partitions, in small letters.
MEMORY_MEANINGS: Final[Mapping[str, str]] = {
    "defmempercpu": "memory of jobs that request none, for each processor",
    "defmempernode": "memory of jobs that request none, for each node",
    "maxmempercpu": "the largest memory with each processor; jobs that ask for more get more processors",
    "maxmempernode": "the largest memory of a job on a node",
}
#: Parameters of the cluster, in small letters.
MEANINGS: Final[Mapping[str, str]] = {
    "accountingstorageenforce": "which limits and associations are required",
    "accountingstoragetype": "whether ages and usage count",
    "authinfo": "when a requeued job may begin",
    **MEMORY_MEANINGS,
    "enforcepartlimits": "whether jobs beyond limits of partitions are refused",
    "licenses": "licences of the cluster",
    "overtimelimit": "minutes that a job may run beyond its limit",
    "preemptexempttime": "how long a job runs before it may be preempted",
    "preemptmode": "what happens to preempted jobs",
    "preempttype": "which jobs may preempt others",
    "prioritycalcperiod": "how often priorities are calculated",
    "prioritydecayhalflife": "how fast usage is forgotten",
    "priorityfavorsmall": "whether small jobs have the larger size factor",
    "priorityflags": "how fair share and size are calculated",
    "prioritymaxage": "the age at which the age factor is 1",
    "prioritytype": "whether priorities are sums of factors",
    "priorityweightage": "weight of the age of a job",
    "priorityweightassoc": "weight of the priority of the association",
    "priorityweightfairshare": "weight of fair share",
    "priorityweightjobsize": "weight of the size of a job",
    "priorityweightpartition": "weight of the partition",
    "priorityweightqos": "weight of the QOS",
    "priorityweighttres": "weights of the resources that a job requests",
    "schedulerparameters": "parameters of the two schedulers",
    "schedulertimeslice": "time slice of gang scheduling",
    "schedulertype": "whether backfill starts jobs out of order",
    "selecttype": "whether jobs share nodes",
    "selecttypeparameters": "which resources of nodes are counted, and which nodes come first",
    "topologyplugin": "whether topology.conf is obeyed",
}
#: Parts of SchedulerParameters.
SCHEDULER_MEANINGS: Final[Mapping[str, str]] = {
    "assoc_limit_stop": "a job at a limit of its association or QOS stops the main scheduler",
    "batch_sched_delay": "seconds between passes of the main scheduler",
    "bf_interval": "seconds between passes of backfill",
    "bf_job_part_count_reserve": "how many jobs of a partition get reservations",
    "bf_licenses": "whether backfill reserves licences",
    "bf_max_job_part": "how many jobs of a partition backfill tests",
    "bf_max_job_start": "how many jobs a pass of backfill starts",
    "bf_max_job_test": "how many jobs a pass of backfill tests",
    "bf_max_job_user": "how many jobs of a user backfill tests",
    "bf_min_age_reserve": "the age from which a job gets a reservation",
    "bf_min_prio_reserve": "the priority from which a job gets a reservation",
    "bf_resolution": "length of the slots of backfill",
    "bf_window": "how far backfill looks into the future",
    "bf_window_linear": "growth of the windows in which ends of jobs are taken together",
    "default_queue_depth": "how many jobs a pass of the main scheduler tests",
    "kill_invalid_depend": "jobs whose dependency cannot be met are cancelled",
    "pack_serial_at_end": "jobs of one processor get the last nodes",
    "partition_job_depth": "how many jobs of a partition the main scheduler tests",
    "preempt_youngest_first": "the youngest jobs are preempted first",
    "sched_interval": "seconds between passes through the whole queue",
    "sched_min_interval": "microseconds that are at least between passes of the main scheduler",
}
#: Parameters of a node, in small letters.
NODE_MEANINGS: Final[Mapping[str, str]] = {
    "nodename": "names of nodes",
    "realmemory": "memory of a node",
    "feature": "features of a node",
    "features": "features of a node",
    "gres": "generic resources of a node",
    "weight": "nodes of the least weight are chosen first",
    "state": "whether the node takes jobs",
    "threadspercore": "hardware threads of a core",
    **dict.fromkeys(("cpus", "sockets", "corespersocket", "boards", "socketsperboard"), "size of a node"),
}
#: Parameters of a set of nodes, in small letters.
SET_MEANINGS: Final[Mapping[str, str]] = {
    "nodeset": "nodes of partitions that name the set",
    "nodes": "nodes of the set",
    "feature": "nodes with the feature are in the set",
}
#: Effect and meaning of a line DownNodes whose state takes nodes down, or does not.
DOWN_MEANINGS: Final[Mapping[bool, tuple[Effect, str]]] = {
    True: ("obeyed", "nodes that take no jobs"),
    False: ("ignored", "this state takes no node down"),
}
#: Parameters of a partition, in small letters.
PARTITION_MEANINGS: Final[Mapping[str, str]] = {
    "partitionname": "name of the partition",
    "nodes": "nodes of the partition",
    **MEMORY_MEANINGS,
    "state": "whether jobs of the partition start",
    "oversubscribe": "whether jobs share cores",
    "default": "the partition of jobs that name none",
    "maxtime": "the longest limit of jobs",
    "defaulttime": "limit of jobs that name none",
    "minnodes": "the smallest number of nodes of a job",
    "maxnodes": "the largest number of nodes of a job",
    "priorityjobfactor": "factor of the partition in priorities",
    "qos": "the QOS whose limits hold in the partition",
    "prioritytier": "jobs of higher tiers come first",
    "gracetime": "how long a preempted job still runs",
    "exclusiveuser": "whether nodes are for one user at a time",
    "preemptmode": "what happens to preempted jobs of the partition",
}
