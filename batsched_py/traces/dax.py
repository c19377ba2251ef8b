"""Reader of workflows in DAX, the format of Pegasus in version 2, as Batsim reads them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element as XmlElement

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.model.workflow import Workflow, WorkflowTask
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import LIMITS, LONGEST, NAME_RULE, Limits, breaks_csv
from batsched_py.reading.notes import Notes
from batsched_py.reading.xml_document import parse_root
from batsched_py.text.display import displayed, shown

# A file has a `job` for each task and a `child` for each task with its parents. All else describes data and programs,
# which Batsim ignores. An edge that is given twice counts twice for the parent and once for the child, as in Batsim:
# the child may then never be submitted.

#: Seconds that a job of a workflow may take longer than its task, Batsim's margin of the walltime.
MARGIN: Final = 10.0
_DEEPEST: Final = 10
_ROOT: Final = "adag"


def read_workflow(path: Path, start: float | None = None, limits: Limits = LIMITS) -> Workload:
    """Read a workflow, which begins at `start`, as a workload; WorkloadError names the file, the task and the rule."""
    file = str(path)
    with reported(path, WorkloadError):
        content = read_file(path, limits)
    try:
        root = parse_root(content, _DEEPEST)
    except ValueError as error:
        raise WorkloadError(file, "", str(error)) from None
    if _tag(root) != _ROOT:
        raise WorkloadError(file, "", f"must be a workflow in DAX, of the element {_ROOT}, not {shown(_tag(root))}")
    reader = _DaxReader(file, limits)
    for element in root:
        if _tag(element) == "job":
            reader.read_task(element)
        elif _tag(element) == "child":
            reader.read_edges(element)
    return reader.workload(start)


class _DaxReader:
    """A reader of one file, with the parts read so far."""

    def __init__(self, file: str, limits: Limits) -> None:
        self._file, self._limits, self._notes = file, limits, Notes(file)
        #: Task -> its run time and its number of hosts.
        self._shapes: dict[str, tuple[float, int]] = {}
        self._parents: dict[str, set[str]] = {}
        self._children: dict[str, list[str]] = {}

    def read_task(self, element: XmlElement) -> None:
        """Read a task."""
        name = element.get("id", "")
        if not name or "!" in name or breaks_csv(name) or len(name) > self._limits.name_size:
            raise WorkloadError(self._file, "job.id", f"must not be empty, have no '!', and {NAME_RULE}")
        if name in self._shapes:
            raise WorkloadError(self._file, f"job {displayed(name)}", "is defined twice")
        self._shapes[name] = _runtime(self._file, name, element), _size(self._file, name, element)
        if len(self._shapes) > self._limits.jobs:
            raise WorkloadError(self._file, "job", self._limits.rule("jobs"))

    def read_edges(self, element: XmlElement) -> None:
        """Read the tasks before a task."""
        child = self._known(element)
        for parent in element:
            if _tag(parent) != "parent":
                continue
            before = self._known(parent)
            after = self._children.setdefault(before, [])
            if before in self._parents.setdefault(child, set()):
                what = "an edge that is given twice counts twice at its parent and once at its child, as in Batsim"
                self._notes.add(what, f"{displayed(before)} to {displayed(child)}")
            after.append(child)
            self._parents[child].add(before)

    def workload(self, start: float | None) -> Workload:
        """Return the workflow as a workload."""
        if not self._shapes:
            raise WorkloadError(self._file, "", "must have a task")
        tasks = {name: WorkflowTask(*shape, len(self._parents.get(name, ()))) for name, shape in self._shapes.items()}
        after = {name: tuple(others) for name, others in self._children.items()}
        largest = max(task.size for task in tasks.values())
        workflow = Workflow(tasks, after, start)
        return Workload(self._file, largest, (), {}, notes=self._notes.lines(), workflow=workflow)

    def _known(self, element: XmlElement) -> str:
        name = element.get("ref", "")
        if name not in self._shapes:
            rule = f"names {shown(name)}, which is not a task before it"
            raise WorkloadError(self._file, f"{_tag(element)}.ref", rule)
        return name


def _tag(element: XmlElement) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _runtime(file: str, name: str, element: XmlElement) -> float:
    text = element.get("runtime", "")
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= LONGEST - MARGIN:
        rule = f"must be a number of seconds greater than 0 and at most {LONGEST - MARGIN:.0f}, not {shown(text)}"
        raise WorkloadError(file, f"job {displayed(name)}.runtime", rule)
    return seconds


def _size(file: str, name: str, element: XmlElement) -> int:
    """Return the number of hosts, 1 if it is missing or less."""
    text = element.get("num_procs", "1")
    try:
        return max(1, int(text)) if len(text) < 10 else 1 // 0
    except (ValueError, ZeroDivisionError):
        rule = f"must be a whole number, not {shown(text)}"
        raise WorkloadError(file, f"job {displayed(name)}.num_procs", rule) from None
