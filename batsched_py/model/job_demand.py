"""Demands of jobs: the resources that each task requests, and how the tasks are spread over hosts."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.model.demand import NamedAmounts, TaskDemand


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
