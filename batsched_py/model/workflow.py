"""Workflows: tasks of which each is submitted when those before it have ended."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class WorkflowTask(Struct, frozen=True):
    """A task: its run time in seconds, its number of hosts, and the number of tasks before it."""

    runtime: float
    size: int
    parents: int


class Workflow(Struct, frozen=True):
    """A workflow.

    Attributes:
        tasks: id -> task.
        children: id -> the tasks after it, in the order of the file; one that is named twice is there twice.
        start: time in seconds at which the first tasks are submitted; None for 0, as of option -W.
    """

    tasks: Mapping[str, WorkflowTask]
    children: Mapping[str, tuple[str, ...]]
    start: float | None = None
