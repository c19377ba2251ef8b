"""The amounts that a job of a table requests, and the demand that is made of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class RequestedAmounts(NamedTuple):
    """The amounts that a job of a table requests; 0 for none.

    Attributes:
        cores, memory, gpus, gpu_share: amounts of each host, or of the whole job; memory is in MiB. A number of GPUs
            below 1 is a share of one.
        total: those that are amounts of the whole job.
    """

    cores: float
    memory: float
    gpus: float
    gpu_share: float
    total: frozenset[str]

    def demand(self, tasks: int) -> dict[str, Any] | None:
        """Return the member `demand` for a job of so many hosts; None if it requests nothing of them.

        Each host has an equal part of the amounts of the whole job, rounded up, and is a host of its own.
        """
        each = {
            name: getattr(self, name) / (tasks if name in self.total else 1) for name in ("cores", "memory", "gpus")
        }
        cores = math.ceil(each["cores"]) if "cores" in self.total else round(each["cores"], 3)
        share = each["gpus"] if 0 < each["gpus"] < 1 and "gpus" not in self.total else self.gpu_share
        wanted: dict[str, Any] = {
            "cores": int(cores) if cores % 1 == 0 else cores,
            "memory": math.ceil(each["memory"]),
            "gpus": math.ceil(each["gpus"]),
        }
        wanted = {name: amount for name, amount in wanted.items() if amount}
        if "gpus" in wanted and 0 < share < 1:
            wanted["gpu_share"] = share
        return {**wanted, **({"spread": True} if self.total else {})} if wanted else None
