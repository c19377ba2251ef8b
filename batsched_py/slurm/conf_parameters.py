"""Parameters of slurm.conf that are obeyed, and the readers of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from batsched_py.slurm.conf_values import (
    at_least,
    counts,
    duration,
    features,
    gres,
    licences,
    megabytes,
    minutes,
    one_of,
    positive_duration,
    words,
    words_of,
    yes_no,
)
from batsched_py.text.display import displayed

Reader = Callable[[str], Any]


def _credential_life(text: str) -> float:
    """Return the seconds for which a credential of a job is valid: `cred_expire=120`."""
    pairs = [word.partition("=")[::2] for word in sorted(words(text))]
    options = dict(pairs)
    if unknown := options.keys() - {"cred_expire", "socket", "ttl", "use_client_ids"}:
        raise ValueError(f"{displayed(min(unknown))} is not supported")
    if len(options) < len(pairs):
        raise ValueError("must not have an option twice")
    return float(at_least(0)(options.get("cred_expire", "120")))


def _enforced(text: str) -> frozenset[str]:
    """Return what accounts enforce; limits and QOS imply associations, and `safe` implies limits."""
    found = words_of("associations", "limits", "qos", "safe", "nojobs", "nosteps", "none")(text)
    if "safe" in found:
        found |= {"limits"}
    return found | {"associations"} if found & {"limits", "qos"} else found


def _weights(text: str) -> tuple[tuple[str, float], ...]:
    """Return the weights of resources."""
    found = counts(text)
    if unknown := {name for name, _ in found} - {"cpu", "mem"}:
        raise ValueError(f"{displayed(min(unknown))} is not supported: must be of cpu, mem")
    return found


def _preemption(text: str) -> frozenset[str]:
    """Return the ways of preemption: one, and gang."""
    found = words_of("off", "requeue", "cancel", "suspend", "gang")(text)
    if len(found - {"gang"}) > 1:
        raise ValueError("must be one way, which GANG may follow")
    return found


#: Readers of the parameters that become one field of the configuration, by the name in small letters.
FIELDS: Final[dict[str, tuple[str, Reader]]] = {
    "priorityweightage": ("weight_age", at_least(0)),
    "priorityweightfairshare": ("weight_fairshare", at_least(0)),
    "priorityweightjobsize": ("weight_job_size", at_least(0)),
    "priorityweightpartition": ("weight_partition", at_least(0)),
    "priorityweightqos": ("weight_qos", at_least(0)),
    "priorityweightassoc": ("weight_assoc", at_least(0)),
    "priorityweighttres": ("weight_tres", _weights),
    "prioritymaxage": ("max_age", positive_duration),
    "prioritydecayhalflife": ("decay_half_life", duration),
    "prioritycalcperiod": ("calc_period", positive_duration),
    "priorityfavorsmall": ("favor_small", yes_no),
    "accountingstorageenforce": ("enforce", _enforced),
    "enforcepartlimits": ("enforce_part_limits", one_of("ALL", "ANY", "NO", "YES")),
    "preemptexempttime": ("preempt_exempt", duration),
    "schedulertimeslice": ("time_slice", at_least(1)),
    "overtimelimit": ("over_time_limit", minutes),
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
    "preemptmode": _preemption,
    "accountingstoragetype": one_of("accounting_storage/none", "accounting_storage/slurmdbd"),
    "topologyplugin": one_of("topology/none", "topology/tree"),
    "authinfo": _credential_life,
    "schedulerparameters": str,
}


def _memory(text: str) -> int | None:
    """Return an amount of memory; None, which is not stated, for 0 and UNLIMITED."""
    return None if text.upper() in {"0", "UNLIMITED"} else megabytes(text)


def _is_up(text: str) -> bool:
    """Return whether a node in this state takes jobs."""
    return one_of("UNKNOWN", "IDLE", "CLOUD", "DOWN", "DRAIN", "FAIL", "FAILING")(text) in {"UNKNOWN", "IDLE", "CLOUD"}


#: Fields of `MemoryBounds`, of the cluster or of a partition.
MEMORY_FIELDS: Final[dict[str, tuple[str, Reader]]] = {
    "defmempercpu": ("def_per_cpu", _memory),
    "defmempernode": ("def_per_node", _memory),
    "maxmempercpu": ("max_per_cpu", _memory),
    "maxmempernode": ("max_per_node", _memory),
}
#: Those that exclude each other, unless one states nothing: field -> the other one, and its name.
MEMORY_EXCLUDED: Final[dict[str, tuple[str, str]]] = {
    "def_per_cpu": ("def_per_node", "DefMemPerNode"),
    "def_per_node": ("def_per_cpu", "DefMemPerCPU"),
    "max_per_cpu": ("max_per_node", "MaxMemPerNode"),
    "max_per_node": ("max_per_cpu", "MaxMemPerCPU"),
}

#: Parts of SchedulerParameters -> the least value; 0 for others.
SCHEDULER_LEAST: Final[dict[str, int]] = {"bf_interval": 1, "bf_resolution": 1, "sched_interval": 1}

NODE_FIELDS: Final[dict[str, tuple[str, Reader]]] = {
    "realmemory": ("memory", megabytes),
    "feature": ("features", features),
    "features": ("features", features),
    "gres": ("gres", gres),
    "weight": ("weight", at_least(0)),
    "state": ("up", _is_up),
    "threadspercore": ("threads", at_least(1)),
}
#: Reader of the state of a line DownNodes.
DOWN_STATES: Final = one_of("DOWN", "DRAIN", "FAIL", "FAILING", "UNKNOWN")
#: Read together: they give the cores of a node.
NODE_SIZES: Final = ("cpus", "sockets", "corespersocket", "boards", "socketsperboard")

PARTITION_FIELDS: Final[dict[str, tuple[str, Reader]]] = {
    "default": ("default", yes_no),
    "maxtime": ("max_time", minutes),
    "defaulttime": ("default_time", minutes),
    "minnodes": ("min_nodes", at_least(0)),
    "maxnodes": ("max_nodes", lambda text: None if text.upper() == "UNLIMITED" else at_least(0)(text)),
    "priorityjobfactor": ("job_factor", at_least(0)),
    "prioritytier": ("tier", at_least(0)),
    "gracetime": ("grace", at_least(0)),
    "exclusiveuser": ("exclusive_user", yes_no),
    "qos": ("qos", lambda text: None if text.lower() in {"", "n/a"} else text),
    "preemptmode": ("preempt_mode", one_of("OFF", "REQUEUE", "CANCEL", "SUSPEND")),
}
#: Read when all nodes are known.
PARTITION_OTHERS: Final = frozenset({"nodes", "state", "oversubscribe"})


def ends_with(choices: Mapping[str, Any], key: str, word: str) -> bool:
    """Return whether the value of a parameter of `CHOICES` ends with a word; one that is not given has no words."""
    return str(choices.get(key, "")).endswith(word)


def chosen_fields(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the configuration that the values of `CHOICES` set."""
    none: frozenset[str] = frozenset()
    cr, flags = choices.get("selecttypeparameters", none), choices.get("priorityflags", none)
    modes = choices.get("preemptmode", none)
    return {
        "backfill": not ends_with(choices, "schedulertype", "builtin"),
        "linear": ends_with(choices, "selecttype", "linear"),
        "cr_memory": any(word.endswith("memory") for word in cr),
        "cr_lln": "cr_lln" in cr,
        "multifactor": not ends_with(choices, "prioritytype", "basic"),
        "fair_tree": "no_fair_tree" not in flags,
        "small_relative_to_time": "small_relative_to_time" in flags,
        "accounting": ends_with(choices, "accountingstoragetype", "slurmdbd"),
        "preempt": str(choices.get("preempttype", "preempt/none")).removeprefix("preempt/"),
        "preempt_mode": next(iter(sorted(modes - {"gang"})), "off").upper(),
        "gang": "gang" in modes,
        "cred_expire": float(choices.get("authinfo", 120.0)),
    }
