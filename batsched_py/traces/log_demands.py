"""Demands of the jobs of a log: the memory of the Standard Workload Format, and the TRES of Slurm's accounting.

The TRES (trackable resources) of a job are amounts for all its nodes, as "cpu=8,mem=32G,gres/gpu:a100=2,node=2".
Source: Slurm's pages on TRES and on sacct(1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from batsched_py.traces.swf_log import SwfRecord

#: KiB of one MiB: the format counts memory in KB.
_KIB: Final = 1024
#: An amount with its unit; memory without one is in MiB.
_AMOUNT: Final = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([KMGTP]?)", re.ASCII)
_MIB: Final[Mapping[str, float]] = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
_FACTORS: Final[Mapping[str, float]] = {"": 1, "K": 1000, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_GPU: Final = "gres/gpu"
_LICENCE: Final = "license/"
TRES_RULE: Final = "must be amounts like cpu=8,mem=32G,gres/gpu=2"


def record_demand(record: SwfRecord) -> dict[str, Any]:
    """Return the member `demand` for a job of the format: each processor is a task of one core with its memory."""
    kilobytes = record.requested_memory if record.requested_memory > 0 else record.used_memory
    return {"cores": 1, **({"memory": math.ceil(kilobytes / _KIB)} if kilobytes > 0 else {})}


def tres_demand(text: str, nodes: int) -> dict[str, Any] | None:
    """Return the member `demand` for a job of so many nodes with these TRES; None if they request nothing of hosts.

    Each node is a task on a host of its own, with an equal part of the amounts, rounded up. ValueError for other texts.
    """
    amounts = dict(_amounts(text))
    models = sorted(name.removeprefix(f"{_GPU}:") for name in amounts if name.startswith(f"{_GPU}:"))
    gpus = max(amounts.get(_GPU, 0), sum(amounts[f"{_GPU}:{model}"] for model in models))
    wanted: dict[str, Any] = {
        "cores": math.ceil(amounts.get("cpu", 0) / nodes),
        "memory": math.ceil(amounts.get("mem", 0) / nodes),
        "gpus": math.ceil(gpus / nodes),
    }
    if wanted["gpus"] and models:
        wanted["gpu_models"] = models
    wanted = {name: amount for name, amount in wanted.items() if amount}
    licences = {_licence(name): int(number) for name, number in amounts.items() if name.startswith(_LICENCE) and number}
    if not wanted:
        return None
    return {**wanted, "spread": True, **({"licences": licences} if licences else {})}


def check_tres(text: str) -> None:
    """Raise ValueError for a text that is not one of TRES."""
    for _ in _amounts(text):
        pass


def _licence(name: str) -> str:
    """Return the name of a licence without its server: "license/matlab@flex" is of "matlab"."""
    return name.removeprefix(_LICENCE).partition("@")[0]


def _amounts(text: str) -> Iterable[tuple[str, float]]:
    """Yield (name, amount); memory in MiB. ValueError."""
    for pair in filter(None, text.split(",")):
        name, equals, amount = pair.partition("=")
        found = _AMOUNT.fullmatch(amount)
        if not equals or found is None:
            raise ValueError(TRES_RULE)
        factors = _MIB if name == "mem" else _FACTORS
        yield name, float(found[1]) * factors[found[2]]
