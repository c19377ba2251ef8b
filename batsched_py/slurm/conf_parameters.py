"""Parameters of slurm.conf that are obeyed, and the readers of their values."""

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
    words_of,
    yes_no,
)

Reader = Callable[[str], Any]


def _credential_life(text: str) -> float:
    """Return the seconds for which a credential of a job is valid: `cred_expire=120`."""
    found = [word.partition("=")[2] for word in words(text) if word.startswith("cred_expire=")]
    return float(whole(found[0])) if found else 120.0


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
    "selecttypeparameters": words_of(
        "cr_core", "cr_core_memory", "cr_cpu", "cr_cpu_memory", "cr_lln", "cr_memory", "cr_core_default_dist_block"
    ),
    "prioritytype": one_of("priority/basic", "priority/multifactor"),
    "priorityflags": words_of("no_fair_tree", "small_relative_to_time", "fair_tree", "calculate_running"),
    "preempttype": one_of("preempt/none", "preempt/partition_prio", "preempt/qos"),
    "preemptmode": words_of("off", "requeue", "cancel", "suspend", "gang"),
    "accountingstoragetype": one_of("accounting_storage/none", "accounting_storage/slurmdbd"),
    "topologyplugin": one_of("topology/none", "topology/tree"),
    "authinfo": _credential_life,
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
#: Read when all nodes are known.
PARTITION_OTHERS: Final = frozenset({"nodes", "state", "oversubscribe"})
