"""The input of `convert` as its options choose it: a log, a workload or a lease workload."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import click
from msgspec import Struct

from batsched_py.cli.shared.lease_options import LeaseOptions
from batsched_py.cli.shared.machine_files import MachineFiles
from batsched_py.cli.shared.terminal import warn_all
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import Limits
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.text.wording import counted
from batsched_py.traces.cleaning import CleaningRules
from batsched_py.traces.formats import LSF, PBS, SLURM_FORMATS, Format, ReadOptions, Unit, format_to_write
from batsched_py.traces.lease_request import LeaseTrace
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_columns import TableColumns


class ConvertRequest(Struct, frozen=True):
    """The options of `convert`."""

    logs: tuple[Path, ...]
    output: Path
    platform: Path | None
    rules: CleaningRules
    form: Format | None
    protocol: str
    window: WindowChoice
    unit: Unit | None
    every: float | None
    leases_wanted: LeaseOptions
    machine: MachineFiles
    columns: TableColumns | None
    zone: str | None
    report: Path | None

    @property
    def log(self) -> Path:
        """The first file of the input."""
        return self.logs[0]

    @property
    def further(self) -> tuple[Path, ...]:
        """The other files of the input."""
        return self.logs[1:]

    @property
    def content(self) -> type | None:
        """The class of the content of the input."""
        return None if self.form is None else self.form.content

    @property
    def written(self) -> Format:
        """The format of the output."""
        return format_to_write(self.output)

    @property
    def has_leases(self) -> bool:
        """True if the output contains leases rather than jobs."""
        given = self.rules.leases or bool(self.leases_wanted.ar_share)
        return given or LeaseTrace in (self.content, self.written.content)


def read_content(request: ConvertRequest, limits: Limits) -> SwfLog | Workload | LeaseTrace:
    """Read the input."""
    assert request.form is not None  # noqa: S101 - it was found
    rules, starttime, unit = request.rules, request.leases_wanted.starttime, request.unit or request.form.default_unit
    if rules.slurm_members and request.form not in SLURM_FORMATS:
        raise click.UsageError(f"'--slurm-members' is for Slurm's accounting, and {request.log} is none")
    if rules.demands and unit == "nodes" and request.form in (PBS, LSF):
        raise click.UsageError(
            "'--demands' needs '--unit cpus' for accounting of PBS and LSF: each processor is a core"
        )
    for given, name in ((rules.demands, "demands"), (rules.slurm_members, "slurm-members")):
        if given and unit is not None and request.form not in (PBS, LSF):
            if request.unit == "cpus":
                raise click.UsageError(f"'--{name}' needs '--unit nodes': amounts are those of each node")
            unit = "nodes"
    chosen = (rules.dependencies, rules.demands, rules.slurm_members)
    others = request.columns, request.zone or "", request.further
    return request.form.read(
        request.log, ReadOptions(limits, unit, rules.keep, rules.strict, starttime, *chosen, *others)
    )


def read_workload(request: ConvertRequest, limits: Limits) -> Workload:
    """Read a workload, and warn of its members without effect."""
    workload = read_content(request, limits)
    assert isinstance(workload, Workload)  # noqa: S101 - the content of its format
    warn_all(workload.notes)
    return workload


def refuse_rules(request: ConvertRequest) -> None:
    """Refuse rules that apply only to logs. UsageError."""
    if request.rules != CleaningRules(leases=request.rules.leases):
        raise click.UsageError(f"rules of cleaning are for logs, and {request.log} is none")


def read_log(request: ConvertRequest, limits: Limits) -> tuple[SwfLog, CleaningRules]:
    """Read a log, and determine the window on its clock."""
    log, rules = read_content(request, limits), request.rules
    assert isinstance(log, SwfLog)  # noqa: S101 - the content of its format
    warn_all(log.notes)
    if request.window.whole:
        return log, rules
    window = request.window.since(log.zero).found(str(request.log), log.start, log.first, math.inf)
    end = None if request.window.until is None else window.end
    return log, dataclasses.replace(rules, start=window.begin, end=end)


def description(log: Path) -> str:
    """Return the description of a file that is made from this one."""
    return f"made from {log.name} by batsched-py convert"


def written_line(path: Path, hosts: int) -> str:
    """Return the line about a file that was written; 0 hosts are unknown."""
    return f"wrote {path}" + (f" for {counted(hosts, 'host')}" if hosts else "")
