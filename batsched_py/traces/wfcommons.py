"""Reader of workflow instances of WfCommons (WfFormat, versions up to 1.6): tasks become jobs that depend on others.

Source: the schema of WfFormat (github.com/wfcommons/WfFormat), and Coleman et al., WfCommons, FGCS 128 (2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.model.conditions import MOST, check_graph
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError, Place, inside, of_file
from batsched_py.reading.json_document import count_members, may_be_doubled, parse_object, refuse_doubled
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.reading.objects import OBJECT, list_of, take
from batsched_py.reading.values import name_text, number, seconds
from batsched_py.text.display import displayed, shown
from batsched_py.traces.dax import MARGIN
from batsched_py.traces.delay_workload import DelayJob, delay_workload
from batsched_py.traces.formats import ReadOptions

# Versions differ in the place of the same facts. From 1.5 on a task has its edges in workflow.specification, and its
# run time in workflow.execution; before, workflow.tasks (in the first versions workflow.jobs) has both, a time is
# called runtime, and edges refer to the names of tasks rather than to their ids. An edge is given at its parent, at its
# child, or at both: each of these suffices.
#
# Data is not moved, since measured run times contain the transfers. A task needs one host, or one for each core. It
# depends on the success of its parents.

_FILES: Final = "data is not moved; transfers are part of the run times"
_WHOLE: Final = "a task has whole hosts"
#: Members that describe a task, or were measured while it ran.
_DESCRIBES: Final = frozenset(
    {
        "type",
        "category",
        "command",
        "program",
        "arguments",
        "machine",
        "machines",
        "executedAt",
        "priority",
        "launchDir",
    }
    | {"avgCPU", "energy", "energyInKWh", "avgPower", "avgPowerInW"}
    | {"bytesRead", "bytesWritten", "readBytes", "writtenBytes"}
)
_TASK: Final = Members(
    "a task",
    _DESCRIBES | {"id", "name", "parents", "children", "runtime", "runtimeInSeconds", "cores", "coreCount"},
    dict.fromkeys(("files", "inputFiles", "outputFiles"), _FILES) | dict.fromkeys(("memory", "memoryInBytes"), _WHOLE),
    UnknownNames.REPORTED,
)
_DOCUMENT: Final = Members(
    "a file of WfCommons",
    frozenset({"workflow", "name", "description", "createdAt", "schemaVersion", "author", "runtimeSystem", "wms"}),
    unknown=UnknownNames.REPORTED,
)
_WORKFLOW: Final = Members(
    "a workflow",
    frozenset({"specification", "execution", "tasks", "jobs", "machines", "makespan", "makespanInSeconds"})
    | {"executedAt"},
    unknown=UnknownNames.REPORTED,
)
_SPECIFICATION: Final = Members(
    "a specification", frozenset({"tasks", "metrics"}), {"files": _FILES}, UnknownNames.REPORTED
)
_EXECUTION: Final = Members(
    "an execution",
    frozenset({"tasks", "machines", "makespan", "makespanInSeconds", "executedAt", "metrics"}),
    unknown=UnknownNames.REPORTED,
)
_NAME: Final = name_text()
_OBJECTS: Final = list_of(OBJECT, "objects")
_NAMES: Final = list_of(_NAME, "names of tasks", most=MOST)
_SECONDS: Final = seconds(least=0)
_CORES: Final = number("cores", above=0, most=1e6)


class _MeasuredTask(Struct):
    """One task.

    Attributes:
        id, name: its id and its name, of which one may be missing.
        before, after: the tasks at the other ends of its edges.
        run: run time in seconds; None if unknown.
        cores: number of cores.
    """

    id: str
    name: str
    before: Sequence[str]
    after: Sequence[str]
    run: float | None
    cores: float


def read(path: Path, options: ReadOptions) -> Workload:
    """Read a workflow; WorkloadError names the file, the task and the rule.

    All jobs are submitted at second 0. Their walltimes are those that Batsim gives to the tasks of workflows.
    """
    file, notes, by_core = str(path), Notes(str(path)), options.unit == "cpus"
    content = read_content(path, options.limits)
    document = parse_object(file, content)
    if may_be_doubled(content, count_members(document), ()):
        refuse_doubled(file, content)
    try:
        workflow = take(document, "workflow", OBJECT)
        _DOCUMENT.check(document, notes)
        _WORKFLOW.check(workflow, notes, "workflow")
        tasks = _read_tasks(workflow, notes)
        if len(tasks) > options.limits.jobs:
            raise FieldError("workflow", options.limits.rule("jobs"))
        before = _edges(tasks)
        machine_size = _machine_size(workflow, by_core=by_core)
    except ValueError as error:
        raise of_file(WorkloadError, file, error) from None
    jobs = [
        DelayJob(
            submit=0.0,
            number=index,
            run=task.run or 0.0,
            size=ceil(task.cores) if by_core else 1,
            walltime=(task.run or 0.0) + MARGIN,
            members={"depends_on": before[name]} if before[name] else {},
            name=name,
        )
        for index, (name, task) in enumerate(tasks.items())
    ]
    largest = max(job.size for job in jobs)
    host_count = max(machine_size, largest) if machine_size else 0
    return replace(delay_workload(file, host_count, jobs), notes=notes.lines())


def _read_tasks(workflow: Mapping[str, Any], notes: Notes) -> dict[str, _MeasuredTask]:
    """Return the tasks by the names of their jobs, in the order of the file. FieldError, with all faults."""
    later = "specification" in workflow
    part = take(workflow, "specification", OBJECT) if later else workflow
    member = "jobs" if "tasks" not in part and "jobs" in part else "tasks"
    place = Place(f"workflow.specification.{member}" if later else f"workflow.{member}")
    measured = _measured(workflow, notes) if later else {}
    read = list[_MeasuredTask]()
    try:
        objects = take(part, member, _OBJECTS)
    except ValueError as error:
        raise inside("workflow.specification" if later else "workflow", error) from None
    for index, members in enumerate(objects):
        _TASK.check(members, notes, f"{place.path}[{index}]")
        try:
            name = take(members, "id", _NAME, "")
            task = _read_task({**members, **measured.get(name, {})})
        except ValueError as error:
            place[index].add(error)
            continue
        if task.run is None:
            rule = "is not in workflow.execution.tasks" if later else "has neither runtimeInSeconds nor runtime"
            place[index].note(f"task {displayed(task.id or task.name)} has no run time: it {rule}")
        read.append(task)
    place.refuse()
    if not read:
        raise FieldError(place.path, "must not be empty")
    tasks = _named(read, place, by_name=not later)
    if others := measured.keys() - tasks.keys():
        rule = f"is not in workflow.specification.tasks: {shown(min(others))}"
        raise FieldError("workflow.execution.tasks", rule)
    return tasks


def _measured(workflow: Mapping[str, Any], notes: Notes) -> dict[str, Mapping[str, Any]]:
    """Return the members of the execution of each task, by its id. FieldError for an id that is missing or repeated."""
    path = "workflow.execution"
    _SPECIFICATION.check(take(workflow, "specification", OBJECT), notes, "workflow.specification")
    try:
        execution = take(workflow, "execution", OBJECT)
        _EXECUTION.check(execution, notes, path)
        objects = take(execution, "tasks", _OBJECTS)
    except FieldError as error:
        raise inside("workflow" if error.path.startswith("execution") else path, error) from None
    found, place = dict[str, Mapping[str, Any]](), Place(f"{path}.tasks")
    for index, members in enumerate(objects):
        _TASK.check(members, notes, f"{place.path}[{index}]")
        name = place[index].read(lambda task: take(task, "id", _NAME), members, "")
        if name in found:
            (place[index] / "id").note(f"is the id of two tasks: {shown(name)}")
        found[name] = {key: members[key] for key in ("runtimeInSeconds", "coreCount") if key in members}
    place.refuse()
    return found


def _read_task(members: Mapping[str, Any]) -> _MeasuredTask:
    """Return one task; FieldError."""
    time = "runtimeInSeconds" if "runtimeInSeconds" in members else "runtime"
    cores = "coreCount" if "coreCount" in members else "cores"
    return _MeasuredTask(
        take(members, "id", _NAME, ""),
        take(members, "name", _NAME, ""),
        take(members, "parents", _NAMES, ()),
        take(members, "children", _NAMES, ()),
        take(members, time, _SECONDS) if time in members else None,
        take(members, cores, _CORES, 1.0),
    )


def _named(tasks: Sequence[_MeasuredTask], place: Place, *, by_name: bool) -> dict[str, _MeasuredTask]:
    """Return the tasks by the id or, in old versions, by the name if all of them have different ones."""
    by_name = by_name and len({task.name for task in tasks} - {""}) == len(tasks)
    names = [task.name if by_name else task.id for task in tasks]
    counts = Counter(names)
    for index, name in enumerate(names):
        if not name or "!" in name:
            (place[index] / "id").note("is missing" if not name else f"must have no '!', not {shown(name)}")
        elif counts[name] > 1:
            (place[index] / "id").note(f"is the id of two tasks: {shown(name)}")
    place.refuse()
    return dict(zip(names, tasks, strict=True))


def _edges(tasks: Mapping[str, _MeasuredTask]) -> dict[str, list[str]]:
    """Return the tasks before each task, each once, in the order of the file.

    FieldError for a task that does not exist, and for a cycle.
    """
    other_names = {other: name for name, task in tasks.items() for other in (task.id, task.name)}
    before: dict[str, dict[str, None]] = {name: {} for name in tasks}

    def found(task: str, member: str, other: str) -> str:
        name = other if other in tasks else other_names.get(other)
        if name is None:
            raise FieldError(f"task {displayed(task)}.{member}", f"no task is called {shown(other)}")
        return name

    for name, task in tasks.items():
        before[name].update(dict.fromkeys(found(name, "parents", other) for other in task.before))
        for other in task.after:
            before[found(name, "children", other)][name] = None
    check_graph({name: list(others) for name, others in before.items()}, tasks)
    position = {name: index for index, name in enumerate(tasks)}
    return {name: sorted(others, key=position.__getitem__) for name, others in before.items()}


def _machine_size(workflow: Mapping[str, Any], *, by_core: bool) -> int:
    """Return the number of machines on which the workflow was measured, or that of their cores; 0 if unknown."""
    later = "execution" in workflow
    try:
        machines = take(take(workflow, "execution", OBJECT) if later else workflow, "machines", _OBJECTS, ())
        if not by_core:
            return len(machines)
        cpus = [take(machine, "cpu", OBJECT, {}) for machine in machines]
        return ceil(sum(take(cpu, "coreCount" if "coreCount" in cpu else "count", _CORES, 1.0) for cpu in cpus))
    except ValueError as error:
        raise inside("workflow.execution" if later else "workflow", error) from None
