"""The workloads of a campaign, read or to be drawn from a model, each with its group and its identity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace as replace_rules
from hashlib import sha256
from itertools import product
from typing import Any

import msgspec
from msgspec import Struct

from batsched_py.campaigns.plan.campaign import FileWorkloads, LogWorkloads, ModelWorkloads, WorkloadChoice
from batsched_py.errors import InputError
from batsched_py.example_files import display_path
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import Limits
from batsched_py.results.run_file import WorkloadFile
from batsched_py.runs.inputs import origin_of
from batsched_py.text.display import displayed
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import workload_content
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.delay_workload import DELAYS, with_work
from batsched_py.traces.formats import FORMATS, SWF, ReadOptions, format_of
from batsched_py.traces.lublin import Drawn
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.workload_parts import part_of, parts_of


class WorkloadSource(Struct, frozen=True):
    """A workload of a campaign.

    Attributes:
        name: unique on a platform.
        group: the workloads of a group are observations of the same thing, and are compared together.
        workload: the workload, or the model from which the worker draws it.
        origin: its file or its model.
    """

    name: str
    group: str
    workload: Workload | Drawn
    origin: WorkloadFile

    @property
    def identity(self) -> Mapping[str, Any]:
        """The values that determine its content: the SHA-256 of a file, the parameters of a model."""
        return self.origin.generator if isinstance(self.workload, Drawn) else {"sha256": self.origin.sha256}


class SourceReader:
    """Reader of the workloads of a campaign for machines of several sizes; it reads each file once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        #: Choice -> its workloads; models are not here, because they depend on the machine.
        self._read: dict[int, tuple[WorkloadSource, ...]] = {}

    def read(self, choice: WorkloadChoice, hosts: int) -> tuple[WorkloadSource, ...]:
        """Return the workloads of a choice for a machine of `hosts` hosts. WorkloadError, OptionError."""
        if isinstance(choice, ModelWorkloads):
            return tuple(_drawn(choice, hosts))
        if id(choice) not in self._read:
            self._read[id(choice)] = tuple(
                self._files(choice) if isinstance(choice, FileWorkloads) else self._parts(choice)
            )
        return self._read[id(choice)]

    def _files(self, choice: FileWorkloads) -> Iterator[WorkloadSource]:
        for path in choice.paths:
            workload = read_workload(path, limits=self._limits)
            yield WorkloadSource(path.name.removesuffix(".json"), choice.name, workload, origin_of(path, workload))

    def _parts(self, choice: LogWorkloads) -> Iterator[WorkloadSource]:
        whole = self._cleaned(choice)
        if choice.every is None:
            yield _part(choice, choice.name, whole)
            return
        parts = parts_of(whole, choice.every)
        digits = len(str(parts[-1].number))
        for part in parts:
            yield _part(choice, f"{choice.name}-{part.number:0{digits}d}", part.workload)

    def _cleaned(self, choice: LogWorkloads) -> Workload:
        """Return the part of a log, or of a workload in JSON, that the rules and the window keep."""
        path, window, limits = choice.path, choice.window, self._limits
        form = FORMATS[choice.form] if choice.form else format_of(path, limits)
        if form is None or form.content not in (SwfLog, Workload):
            form = SWF
        read = form.read(path, ReadOptions(limits, choice.unit or form.default_unit))
        if isinstance(read, Workload):
            return _cut(read, choice)
        assert isinstance(read, SwfLog)  # noqa: S101 - the other formats are refused
        if window.whole:
            return _some(clean(read, choice.rules, choice.work)[0])
        time = window.since(read.zero).found(str(path), read.start, read.first, math.inf)
        end = None if window.until is None else time.end
        return _some(clean(read, replace_rules(choice.rules, start=time.begin, end=end), choice.work)[0])


def _cut(workload: Workload, choice: LogWorkloads) -> Workload:
    """Return the part of a workload in JSON in the window. InputError for rules, which are for logs."""
    path, window = str(choice.path), choice.window
    if choice.rules != CleaningRules():
        rule = "is a workload, not a log: hosts, processors, walltime and max_jobs do not apply"
        raise InputError(path, "", rule)
    time = window.found(path, workload.log_start, min(workload.submissions(), default=0.0), math.inf)
    part = workload if window.whole else part_of(workload, time.begin, time.end)
    return part if choice.work == DELAYS else with_work(part, choice.work)


def _some(workload: Workload) -> Workload:
    """Return the workload. WorkloadError if it has no job."""
    if not workload.jobs:
        raise InputError(workload.source, "", "has no job that the rules keep")
    return workload


def _part(choice: LogWorkloads, name: str, workload: Workload) -> WorkloadSource:
    digest = sha256(workload_content(workload)).hexdigest()
    origin = WorkloadFile(display_path(choice.path), digest, log_start=workload.log_start)
    return WorkloadSource(name, choice.name, workload, origin)


def _drawn(choice: ModelWorkloads, hosts: int) -> Iterator[WorkloadSource]:
    varied = [name for name, values in choice.parameters.items() if len(values) > 1]
    for values in product(*choice.parameters.values()):
        given = dict(zip(choice.parameters, values, strict=True))
        group = " ".join([choice.name, *(f"{name}={given[name]:g}" for name in varied)])
        for seed in choice.seeds:
            drawn = msgspec.convert({"hosts": hosts, **given, "seed": seed}, Drawn)
            origin = WorkloadFile(drawn.command, None, drawn.parameters)
            yield WorkloadSource(f"{displayed(group)} seed={seed}", group, drawn, origin)
