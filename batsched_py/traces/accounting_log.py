"""A log made of the records of jobs that ended, as PBS and LSF write them: one for each end of a run of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.reading.limits import LONGEST, TOO_LONG
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.row_rules import RowTally
from batsched_py.traces.slurm_dependency import NO_DEPENDENCY, SlurmDependency
from batsched_py.traces.swf_log import SwfLog, SwfRecord
from batsched_py.traces.swf_remarks import report_records

# Accounting is written where a run of a job ends, so a job that was run again has several records with one submission.
# The last one counts, as for Slurm. A number that was used again has another submission. It is a job of its own, like
# one of another server.


class EndedJob(NamedTuple):
    """A record of the end of a job.

    Attributes:
        place: its place in messages.
        name: id of the job.
        site: the server of that id; "" if there is only one.
        submit, start, end: seconds since 1970; `start` is None for a job that never ran.
        record: its sizes, run time, request and status.
        members: members of the workload's job.
        dependency: its dependencies on other jobs.
        withdrawn: whether its user cancelled it before it started.
    """

    place: str
    name: str
    site: str
    submit: int
    start: int | None
    end: int
    record: SwfRecord
    members: Mapping[str, Any]
    dependency: SlurmDependency = NO_DEPENDENCY
    withdrawn: bool = False


class AccountingLog:
    """The jobs of one log, and the counts of its records.

    Attributes:
        notes: lines on what has no effect.
    """

    def __init__(self, path: Path, options: ReadOptions) -> None:
        """Set the files of the log: `path`, and further ones in the options."""
        self.notes = Notes(str(path))
        self._paths, self._options = (path, *options.further), options
        self._tally = RowTally()
        #: Jobs by server and id, in the order of their records.
        self._jobs: dict[tuple[str, str], list[EndedJob]] = {}
        self._records = 0
        self._index, self._line = 0, 0

    @property
    def place(self) -> str:
        """The place of the line that was read last, in lines that begin with the name of the first file."""
        line = f"line {self._line}"
        return f"{displayed(self._paths[self._index].name)}, {line}" if self._index else line

    def lines(self) -> Iterator[str]:
        """Yield the lines of all files that are not blank. WorkloadError."""
        for index, path in enumerate(self._paths):
            self._index, self._line = index, 0
            with reported(path, WorkloadError, lambda: f"line {self._line + 1}"):
                for content in read_lines(path, self._options.limits):
                    self._line += 1
                    text = content.decode(errors="replace").rstrip("\r\n")
                    if text.strip():
                        yield text

    def count(self, rule: str, place: str) -> None:
        """Count a record under a rule of `row_rules`."""
        self._tally.add(rule, place)

    def drop(self, rule: str) -> None:
        """Leave out the last line, which cannot be read; WorkloadError if the rules are strict."""
        if self._options.strict:
            raise WorkloadError(str(self._paths[self._index]), f"line {self._line}", rule)
        self.count("dropped_row", f"{self.place}: {rule}")
        self.notes.add(f"row dropped: {rule}", self.place)

    def add(self, job: EndedJob) -> None:
        """Add a job. WorkloadError above the limit of jobs."""
        self._records += 1
        if self._records > self._options.limits.jobs:
            rule = self._options.limits.rule("jobs")
            raise WorkloadError(str(self._paths[self._index]), f"line {self._line}", rule)
        self._jobs.setdefault((job.site, job.name), []).append(job)

    def log(self, kept: Sequence[str], columns: ColumnUse, assumed: Sequence[str]) -> SwfLog:
        """Return the log; its clock starts at the first submission.

        `kept` are fields that are members of jobs; the use of all fields and the defaults are for reports.
        """
        jobs, withdrawn = list[EndedJob](), list[EndedJob]()
        for job in self._distinct():
            if job.start is not None:
                jobs.append(job)
            elif job.withdrawn:
                withdrawn.append(job)
            else:
                self.count("dropped_never_ran", job.place)
        jobs.sort(key=attrgetter("submit"))  # records are in the order of the ends of jobs
        zero = min((job.submit for job in jobs or withdrawn), default=0)
        records, cancelled = list[SwfRecord](), list[SwfRecord]()
        for number, job in enumerate([*jobs, *withdrawn], 1):
            submit = job.submit - zero
            if submit > LONGEST:
                raise WorkloadError(
                    str(self._paths[0]), job.place, f"submission {TOO_LONG.rstrip(',')} after the first"
                )
            if job.start is None:
                wait = max(job.end - job.submit, 0)
                cancelled.append(job.record._replace(number=number, submit=submit, wait=wait, run=-1))
            else:
                wait = max(job.start - job.submit, -1)
                records.append(job.record._replace(number=number, submit=submit, wait=wait))
        report_records(records, self.notes, most="most jobs got more than they asked for, such as whole nodes")
        numbered = list(enumerate([*jobs, *withdrawn], 1))
        return SwfLog(
            str(self._paths[0]),
            {"UnixStartTime": str(zero)},
            tuple(records),
            names={number: job.name for number, job in numbered},
            members={number: job.members for number, job in numbered},
            dependencies={number: job.dependency for number, job in numbered if job.dependency is not NO_DEPENDENCY},
            kept=tuple(kept),
            cancelled=tuple(cancelled),
            dropped=self._tally.counts,
            places=self._tally.places,
            columns=columns,
            assumed=(*assumed, f"a host stands for a {'node' if self._options.unit == 'nodes' else 'CPU'}"),
            notes=self.notes.lines(),
        )

    def _distinct(self) -> list[EndedJob]:
        """Return the jobs without duplicates and earlier runs, under unique names, in the order of their records."""
        #: Names in use.
        taken: set[str] = set()
        found: list[EndedJob] = []
        for (site, name), runs in self._jobs.items():
            own = name if name not in taken else f"{name}@{site}"
            for number, job in enumerate(self._last_runs(runs), 1):
                renamed = own if number == 1 else f"{own}.{number}"
                while renamed in taken:
                    renamed += "+"
                taken.add(renamed)
                if renamed == name:
                    found.append(job)
                else:
                    self.count("kept_apart", job.place)
                    found.append(job._replace(name=renamed))
        return found

    def _last_runs(self, runs: Sequence[EndedJob]) -> list[EndedJob]:
        """Return the last run of each job among the records of one id."""
        first, *others = runs if len(runs) == 1 else sorted(runs, key=lambda job: (job.submit, job.end))
        found = [first]
        for job in others:
            before = found[-1]
            if job.submit != before.submit:
                found.append(job)
            elif (job.start, job.end, job.record) == (before.start, before.end, before.record):
                self.count("dropped_duplicate", job.place)
            else:
                self.count("dropped_attempt", before.place)
                found[-1] = job
        return found
