"""The cleaning of logs: explicit rules convert the jobs of a real machine into a workload, and count their effects."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from batsched_py.errors import NothingKeptError, OptionError, WorkloadError
from batsched_py.model.cancellation import CANCELLED_AFTER
from batsched_py.model.demand_members import DEMAND, read_job_demand
from batsched_py.model.recorded_wait import RECORDED_WAIT
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.traces.cleaning_report import CleaningReport
from batsched_py.traces.delay_workload import DELAYS, DelayJob, TimedWork, delay_workload
from batsched_py.traces.log_demands import record_demand, tres_demand
from batsched_py.traces.log_dependencies import with_dependencies
from batsched_py.traces.log_feedback import with_feedback
from batsched_py.traces.row_rules import MOST_EXAMPLES, RULES, RowTally
from batsched_py.traces.slurm_arrays import apart_if_unlike
from batsched_py.traces.swf_log import CANCELLED, SwfLog, SwfRecord
from batsched_py.traces.workload_parts import later

# Each job passes the rules in one fixed order and is counted by the first rule that drops it, so the counts of a report
# add up to the jobs of the log. A correction keeps the job and is also counted: changes of a real log must be visible
# in all results computed from it.
#
# The rules are few, and their defaults change little. Whether walltimes are requests or run times decides what
# backfilling can gain, so it is an explicit choice. The run time is cut to the request, as machines that enforce
# requests do; a job that ran longer would otherwise be killed in the simulation and count as failed.

#: Number of different members of jobs that are shared.
_MOST_KNOWN: Final = 65_536
#: Fields of a log that describe a job, and may be kept.
KEPT_FIELDS: Final = ("group", "executable", "queue", "partition")
#: Number, submit, run, the field of the size, requested_time.
_REQUESTED_FIRST: Final = itemgetter(0, 1, 3, 7, 8)
_USED_FIRST: Final = itemgetter(0, 1, 3, 4, 8)
#: Returns the job with these fields, which are not counted.
_delay_job: Final[Callable[[Iterable[Any]], DelayJob]] = partial(tuple.__new__, DelayJob)


@dataclass(frozen=True, slots=True)
class CleaningRules:
    """Rules for converting a log into a workload; times in seconds. OptionError names an invalid rule (`--from`).

    Attributes:
        hosts: size of the machine; larger jobs are dropped. 0 for the size in the log's headers.
        processors: the field of a job's size; where it is unknown, the other field replaces it.
        walltime: the user's request, or the run time itself (perfect estimates).
        start: jobs submitted earlier on the log's clock are left out; submission times are relative to this instant.
        end: jobs submitted at or after this instant of the log's clock are left out; None for the whole log.
        max_jobs: upper limit on the number of jobs, applied after all other rules in submission order; None for all.
        strict: whether a repeated job number, or an unreadable row of Slurm's accounting, is an error; otherwise such
            jobs and rows are dropped.
        leases: whether the jobs become leases as Haizea reads them: each has a request and lasts at least one second.
        keep: fields of KEPT_FIELDS that become members of the jobs where they are known, in addition to the user.
        feedback: whether submissions follow earlier jobs of the same user, as `log_feedback.with_feedback` finds them.
        dependencies: whether jobs wait for the end of their preceding jobs, plus the think times.
        cancelled: whether jobs that were cancelled before their start are kept, to be cancelled at the same instant.
        demands: whether jobs request parts of hosts: cores and memory, in Slurm's accounting also GPUs and licences.
        slurm_members: whether jobs of Slurm's accounting have the member `slurm`, for the algorithm of this name.
        recorded_waits: whether jobs have their waits in the log as a member, where these are known.
    """

    hosts: int = 0
    processors: Literal["requested", "used"] = "requested"
    walltime: Literal["request", "run"] = "request"
    start: float = 0
    end: float | None = None
    max_jobs: int | None = None
    strict: bool = False
    leases: bool = False
    keep: tuple[str, ...] = ()
    dependencies: bool = False
    feedback: bool = False
    demands: bool = False
    cancelled: bool = False
    slurm_members: bool = False
    recorded_waits: bool = False

    def __post_init__(self) -> None:
        if self.hosts < 0:
            raise OptionError(f"--hosts: must be 1 or more, not {self.hosts}")
        if self.max_jobs is not None and self.max_jobs < 1:
            raise OptionError(f"--max-jobs: must be 1 or more, not {self.max_jobs}")
        if not 0 <= self.start < math.inf:
            raise OptionError(f"--from: must be a number of seconds from 0, not {self.start}")
        if self.end is not None and not self.end > self.start:
            raise OptionError(f"--to: must be later than --from, {self.start}, not {self.end}")


#: A job that no rule drops, and the names of the corrections made to it.
_Passed = tuple[DelayJob, tuple[str, ...]]


class CleanedLog(NamedTuple):
    """The jobs that the rules keep, in submission order, with the machine's size and the report of the cleaning."""

    source: str
    machine_size: int
    jobs: Sequence[DelayJob]
    report: CleaningReport


def clean(log: SwfLog, rules: CleaningRules, work: TimedWork = DELAYS) -> tuple[Workload, CleaningReport]:
    """Return a workload of the jobs that the rules keep, with the notes of the log.

    WorkloadError, OptionError as `clean_jobs`.
    """
    kept = clean_jobs(log, rules)
    jobs, report = kept.jobs, kept.report
    counts = dict(report.counts)
    if rules.dependencies:
        jobs, counts["cut_dependencies"] = with_dependencies(log, jobs)
    if rules.feedback:
        jobs, counts["followers"] = with_feedback(log, jobs)
    if rules.slurm_members:
        jobs, counts["tasks_apart"] = apart_if_unlike(jobs)
    start = later(log.start, rules.start)
    workload = delay_workload(log.source, kept.machine_size, jobs, start, work)
    return replace(workload, notes=log.notes), replace(report, counts=counts)


def clean_jobs(log: SwfLog, rules: CleaningRules) -> CleanedLog:
    """Apply the rules in the order of the report's fields, and count the jobs that each of them affects.

    The run time is truncated to the request, as on machines that enforce requests. Ids are the log's job numbers, or
    its names for them; the user, if known, is a member of the job.

    A job whose walltime equals its run time ends in Batsim as COMPLETED_WALLTIME_REACHED, at the same instant.
    NothingKeptError if no job is kept; WorkloadError if the header with the machine's size contains no number and
    `hosts` is not given, or with `strict` if a job number is repeated; OptionError for a field that cannot be kept.
    """
    if wrong := [field for field in rules.keep if field not in KEPT_FIELDS and field.lower() not in log.kept]:
        raise OptionError(f"--keep: {shown(wrong[0])}: {unknown(wrong[0], KEPT_FIELDS)}")
    size = rules.hosts or log.machine_size
    tally = RowTally()
    passing = list(_RecordCleaner(log, rules, size, tally).jobs())
    if not rules.cancelled:
        for record in log.cancelled:
            tally.add("dropped_never_ran", log.place_of(record.number))
    _count_out_of_order(log, passing, tally)
    passing.sort()
    kept = passing if rules.max_jobs is None else passing[: rules.max_jobs]
    for job, _ in passing[len(kept) :]:
        tally.add("left_out_by_max_jobs", log.place_of(job.number))
    for job, corrections in kept:
        for correction in corrections:
            tally.add(correction, log.place_of(job.number))
    report = _report(log, len(kept), tally)
    if not kept:
        rule = f"has no job that the rules keep, of {report.jobs}"
        raise NothingKeptError(log.source, "", rule, report.lines(), report)
    return CleanedLog(log.source, size, [job for job, _ in kept], report)


def _report(log: SwfLog, kept: int, tally: RowTally) -> CleaningReport:
    """Return the counts of the reader and those of the cleaning together."""
    counts = Counter({**log.dropped, "cut_lines": log.long_lines}) + tally.counts
    taken = (count for rule, count in log.dropped.items() if RULES[rule].effect == "dropped")
    places = {
        rule: (*log.places.get(rule, ()), *tally.places.get(rule, ()))[:MOST_EXAMPLES]
        for rule in RULES
        if rule in log.places or rule in tally.places
    }
    return CleaningReport(len(log.records) + len(log.cancelled) + sum(taken), kept, counts, places)


def _count_out_of_order(log: SwfLog, passing: list[_Passed], tally: RowTally) -> None:
    """Count the jobs preceded in the log by one that was submitted later."""
    latest = -math.inf
    for job, _ in passing:
        if job.submit < latest:
            tally.add("corrected_order", log.place_of(job.number))
        else:
            latest = job.submit


class _RecordCleaner:
    """The rules for single jobs, applied to the jobs of a log in their order."""

    def __init__(self, log: SwfLog, rules: CleaningRules, size: int, tally: RowTally) -> None:
        self._log, self._rules, self._size, self._tally = log, rules, size, tally
        self._start, self._end = rules.start, math.inf if rules.end is None else rules.end
        self._described = _Members(log, rules)
        #: The numbers of the jobs so far.
        self._seen: set[int] = set()

    def jobs(self) -> Iterator[_Passed]:
        """Yield the jobs that no rule drops, and count the others. WorkloadError for strict rules."""
        log, rules, seen, members_of = self._log, self._rules, self._seen, self._described.of
        start, end, first = self._start, self._end, max(self._start, 0)
        largest, names, own = self._size if self._size > 0 else math.inf, log.names, rules.walltime == "run"
        plain = not (rules.cancelled or rules.leases)
        records = (*log.records, *log.cancelled) if rules.cancelled else log.records
        looked_at = map(_USED_FIRST if rules.processors == "used" else _REQUESTED_FIRST, records)
        for record, (number, submit, run, processors, request) in zip(records, looked_at, strict=True):
            if (
                plain
                and 0 < run <= request
                and 0 < processors <= largest
                and first <= submit < end
                and number not in seen
            ):
                # Most jobs, about which no rule has anything to say: as `_passed`, without its questions.
                seen.add(number)
                limit, members = run if own else request, members_of(record, processors, None)
                begun = submit - start if start else submit
                yield _delay_job((begun, number, run, processors, limit, members, names.get(number, ""))), ()
            elif (passed := self._passed(record)) is not None:
                yield passed

    def _passed(self, record: SwfRecord) -> _Passed | None:
        """Return the job of a record by all rules; None if one of them drops it, which is counted. WorkloadError."""
        log, rules, number = self._log, self._rules, record.number
        repeated = number in self._seen
        if repeated and rules.strict:
            raise WorkloadError(log.source, log.place_of(number), "is in the log twice")
        corrections: tuple[str, ...] = ()
        patience = _patience(record) if rules.cancelled else None
        if patience is not None:
            corrections = ("cancelled",)
            record = record._replace(run=record.requested_time)  # unknown: it may run that long
        processors = _processors(record, rules)
        reason = _reason_to_drop(record, abs(processors), self._size, rules, repeated=repeated)
        self._seen.add(number)
        if reason is None and not self._start <= record.submit < self._end:
            reason = "left_out_by_window"
        if reason is not None:
            self._tally.add(reason, log.place_of(number))
            return None
        if processors < 0:
            corrections = (*corrections, "corrected_processors")
            processors = -processors
        run, walltime, correction = _times(record, rules)
        submit = record.submit - self._start if self._start else record.submit
        members = self._described.of(record, processors, patience)
        job = DelayJob(submit, number, run, processors, walltime, members, log.names.get(number, ""))
        return job, corrections + correction


class _Members:
    """The members of the jobs of a log; jobs with the same fields share them."""

    def __init__(self, log: SwfLog, rules: CleaningRules) -> None:
        self._log, self._rules, self._named = log, rules, log.members
        self._fields = attrgetter("user", *(field for field in rules.keep if field in KEPT_FIELDS))
        #: Returns the members of a job; the time after which its user cancelled it is None if it was not.
        self.of = self._further if rules.cancelled or rules.recorded_waits or rules.demands else self._described
        #: The values of the fields -> members of jobs without others.
        self._known: dict[Any, Mapping[str, Any]] = {}

    def _further(self, record: SwfRecord, processors: int, patience: float | None) -> Mapping[str, Any]:
        members = self._described(record, processors, patience)
        if patience is not None:
            members = {**members, CANCELLED_AFTER: patience}
        elif self._rules.recorded_waits and record.wait >= 0:
            members = {**members, RECORDED_WAIT: record.wait}
        return _with_demand(self._log, record, processors, members) if self._rules.demands else members

    def _described(self, record: SwfRecord, _processors: int, _patience: float | None) -> Mapping[str, Any]:
        if self._named and record.number in self._named:
            return self._named[record.number]
        key = self._fields(record)
        members = self._known.get(key)
        if members is None:
            members = self._log.members_of(record, self._rules.keep)
            if len(self._known) < _MOST_KNOWN:
                self._known[key] = members
        return members


def _patience(record: SwfRecord) -> float | None:
    """Return the seconds from the submission of a job until it was cancelled, if it was before its start."""
    never_ran = record.status == CANCELLED and record.run <= 0
    return record.wait if never_ran and record.wait >= 0 and record.requested_time > 0 else None


def _with_demand(log: SwfLog, record: SwfRecord, tasks: int, members: Mapping[str, str | int]) -> Mapping[str, Any]:
    """Return the members of a job with its demand, if it is known."""
    if log.amounts is not None:
        demand = log.amounts[record.number].demand(tasks)
    else:
        demand = record_demand(record) if log.tres is None else tres_demand(log.tres[record.number], tasks)
    if demand is None:
        return members
    demanding = {**members, DEMAND: demand}
    try:
        read_job_demand(demanding, tasks)
    except FieldError as error:
        raise WorkloadError(log.source, f"{log.place_of(record.number)}.{error.path}", error.rule) from None
    return demanding


def _reason_to_drop(
    record: SwfRecord, processors: int, size: int, rules: CleaningRules, *, repeated: bool
) -> str | None:
    """Return the first rule that drops a job; None for a job that is kept."""
    if repeated:
        return "dropped_duplicate"
    if record.submit < 0:
        return "dropped_no_submit_time"
    if record.run < 0 or (record.run == 0 and not rules.leases):
        return "dropped_no_run_time"
    if rules.leases and record.requested_time <= 0:
        return "dropped_no_request"
    if processors <= 0:
        return "dropped_no_processors"
    return "dropped_too_large" if processors > size > 0 else None


def _processors(record: SwfRecord, rules: CleaningRules) -> int:
    """Return the size of a job; negative if it is that of the other field, 0 if both are unknown."""
    first, second = record.requested_processors, record.used_processors
    if rules.processors == "used":
        first, second = second, first
    return max(first, 0) if first > 0 or second <= 0 else -second


def _times(record: SwfRecord, rules: CleaningRules) -> tuple[float, float, tuple[str, ...]]:
    """Return run time, walltime, and the corrections of both."""
    run, request = record.run, record.requested_time
    corrections: tuple[str, ...] = ()
    if run == 0:
        corrections = ("corrected_zero_run_time",)
        run = 1
    if 0 < request < run:
        corrections = (*corrections, "corrected_run_time")
        run = request
    if rules.walltime == "run":
        return run, run, corrections
    if request <= 0:
        return run, run, (*corrections, "corrected_walltime")
    return run, request, corrections
