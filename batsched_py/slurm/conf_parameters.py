"""Parameters of slurm.conf: which of them are read, how, and which have no effect on decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from batsched_py.slurm.conf_values import (
    counts,
    duration,
    features,
    gres,
    licences,
    megabytes,
    minutes,
    one_of,
    whole,
    words,
    yes_no,
)

Reader = Callable[[str], Any]

#: Readers of the parameters that become one field of the configuration, by the name in small letters.
FIELDS: Final[dict[str, tuple[str, Reader]]] = {
    "priorityweightage": ("weight_age", whole),
    "priorityweightfairshare": ("weight_fairshare", whole),
    "priorityweightjobsize": ("weight_job_size", whole),
    "priorityweightpartition": ("weight_partition", whole),
    "priorityweightqos": ("weight_qos", whole),
    "priorityweightassoc": ("weight_assoc", whole),
    "priorityweighttres": ("weight_tres", counts),
    "prioritymaxage": ("max_age", duration),
    "prioritydecayhalflife": ("decay_half_life", duration),
    "prioritycalcperiod": ("calc_period", duration),
    "priorityfavorsmall": ("favor_small", yes_no),
    "accountingstorageenforce": ("enforce", words),
    "enforcepartlimits": ("enforce_part_limits", one_of("ALL", "ANY", "NO", "YES")),
    "preemptexempttime": ("preempt_exempt", duration),
    "schedulertimeslice": ("time_slice", whole),
    "overtimelimit": ("over_time_limit", minutes),
    "defmempercpu": ("def_mem_per_cpu", megabytes),
    "defmempernode": ("def_mem_per_node", megabytes),
    "licenses": ("licences", licences),
}

#: Readers of parameters of several fields or with few supported values.
CHOICES: Final[dict[str, Reader]] = {
    "schedulertype": one_of("sched/backfill", "sched/builtin"),
    "selecttype": one_of("select/linear", "select/cons_tres", "select/cons_res"),
    "selecttypeparameters": words,
    "prioritytype": one_of("priority/basic", "priority/multifactor"),
    "priorityflags": words,
    "preempttype": one_of("preempt/none", "preempt/partition_prio", "preempt/qos"),
    "preemptmode": words,
    "accountingstoragetype": one_of("accounting_storage/none", "accounting_storage/slurmdbd"),
    "topologyplugin": one_of("topology/none", "topology/tree"),
    "authinfo": words,
    "schedulerparameters": str,
}

NODE_FIELDS: Final[dict[str, tuple[str, Reader]]] = {
    "realmemory": ("memory", megabytes),
    "feature": ("features", features),
    "features": ("features", features),
    "gres": ("gres", gres),
    "weight": ("weight", whole),
    "threadspercore": ("threads", whole),
}
#: Read together: they give the cores of a node.
NODE_SIZES: Final = ("cpus", "sockets", "corespersocket", "boards", "socketsperboard")
NODE_IGNORED: Final = frozenset({"nodename", "nodehostname", "nodeaddr", "port", "state", "tmpdisk", "reason"})

PARTITION_FIELDS: Final[dict[str, tuple[str, Reader]]] = {
    "default": ("default", yes_no),
    "maxtime": ("max_time", minutes),
    "defaulttime": ("default_time", minutes),
    "minnodes": ("min_nodes", whole),
    "maxnodes": ("max_nodes", lambda text: None if text.upper() == "UNLIMITED" else whole(text)),
    "priorityjobfactor": ("job_factor", whole),
    "prioritytier": ("tier", whole),
    "gracetime": ("grace", whole),
    "exclusiveuser": ("exclusive_user", yes_no),
    "preemptmode": ("preempt_mode", one_of("OFF", "REQUEUE", "CANCEL", "SUSPEND")),
}
PARTITION_OTHERS: Final = frozenset({"partitionname", "nodes", "state", "oversubscribe"})

#: Parameters of slurm.conf without effect on decisions.
IGNORED: Final = frozenset(
    {
        "clustername",
        "slurmctldhost",
        "slurmuser",
        "slurmduser",
        "authtype",
        "credtype",
        "plugindir",
        "statesavelocation",
        "slurmdspooldir",
        "slurmctldport",
        "slurmdport",
        "slurmctldpidfile",
        "slurmdpidfile",
        "slurmctldlogfile",
        "slurmdlogfile",
        "slurmctlddebug",
        "slurmddebug",
        "debugflags",
        "proctracktype",
        "taskplugin",
        "mpidefault",
        "switchtype",
        "returntoservice",
        "minjobage",
        "slurmctldtimeout",
        "slurmdtimeout",
        "jobcomptype",
        "jobcomploc",
        "jobacctgathertype",
        "slurmdparameters",
        "groupupdateforce",
        "grestypes",
        "accountingstoragehost",
        "accountingstorageport",
        "jobacctgatherfrequency",
        "slurmctldparameters",
        "maxjobcount",
        "inactivelimit",
        "messagetimeout",
        "launchparameters",
        "maxarraysize",
        "propagateresourcelimits",
        "mailprog",
    }
)
