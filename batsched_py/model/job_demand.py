"""Demands of jobs: the resources that each task requests, and how the tasks are spread over hosts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from batsched_py.model.demand import WHOLE, NamedAmounts, TaskDemand


class JobDemand(Struct, frozen=True, kw_only=True):
    """The request of a job whose tasks may share hosts with others.

    Attributes:
        tasks: number of tasks: the job's size.
        task: the request of each of them.
        spread: True if each task needs a host where no other task of the job runs.
        licences: numbers of licences of the whole machine, by name.
    """

    tasks: int
    task: TaskDemand
    spread: bool = False
    licences: NamedAmounts = ()

    @property
    def members(self) -> dict[str, Any]:
        """The members of the object `demand` of a job, without those that have default values."""
        task = self.task
        written: dict[str, Any] = {
            "cores": _shortest(task.cores),
            "memory": task.memory,
            "gpus": task.gpus,
            "gpu_share": 0 if task.share == WHOLE else _shortest(task.share),
            "gpu_models": list(task.models),
            "others": dict(task.others),
            "exclusive": task.exclusive,
            "spread": self.spread,
            "licences": dict(self.licences),
        }
        return {name: value for name, value in written.items() if value}


def _shortest(thousandths: int) -> float:
    """Return an amount as a whole number, if it is one."""
    return thousandths // WHOLE if thousandths % WHOLE == 0 else thousandths / WHOLE
