"""Records: what a simulation leaves behind of each job and of the whole run."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from operator import sub
from typing import Final, NamedTuple

from msgspec import Struct, field

from batsched_py.bits import size_of
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.table import Table
from batsched_py.protocol.batsim5.greeting import Features
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.results.attempts import Attempt, bases_of, has_sign
from batsched_py.results.file_forms import BATSIM_4, FileForm
from batsched_py.results.tracing import Trace, counts, numbers
from batsched_py.text.representation import Brief


class JobRecord(Struct, frozen=True):
    """The end of a job. Times in seconds since the start of the simulation.

    Attributes:
        job: as it was sent, with its id "workload!name".
        state: its final state in Batsim's words (COMPLETED_SUCCESSFULLY, REJECTED...).
        return_code: 0, the profile's `ret`, -1 (walltime, killed delay) or -2 (killed parallel task).
        start: 0 for a rejected job, like `finish`.
        finish: at least 10 microseconds after `start`, as Batsim records it.
        hosts: empty for a rejected job.
        energy: joules its hosts consumed meanwhile; -1 if energy is not counted.
        metadata: what the scheduler attached to it.
    """

    job: Job
    state: str
    return_code: int
    start: float
    finish: float
    hosts: HostSet
    energy: float = -1.0
    metadata: str = ""

    @property
    def workload(self) -> str:
        """Name of its workload."""
        return self.job.workload

    @property
    def success(self) -> bool:
        """True if it ended by itself, in time, and returned 0."""
        return self.state == COMPLETED_SUCCESSFULLY

    @property
    def rejected(self) -> bool:
        """True if it never ran."""
        return self.state == REJECTED

    def size_on(self, hosts: int) -> int:
        """Return the number of compute hosts it had, of `hosts` in all; its size if its own hosts are not known.

        Storage hosts, which are numbered after them, do not count.
        """
        bits = self.hosts.bits
        if not bits:
            return 0 if self.rejected else self.job.size
        return size_of(bits & ((1 << hosts) - 1) if bits.bit_length() > hosts else bits)

    @property
    def execution(self) -> float:
        """Seconds from start to finish."""
        return self.finish - self.start

    @property
    def waiting(self) -> float:
        """Seconds from submission to start."""
        return self.start - self.job.submit_time

    @property
    def turnaround(self) -> float:
        """Seconds from submission to finish."""
        return self.finish - self.job.submit_time

    @property
    def stretch(self) -> float:
        """Turnaround divided by execution: Batsim's slowdown, which has no lower bound on the execution time.

        So late that the clock cannot tell start and finish apart (after some 10**11 s), it is infinite.
        """
        return stretch(self.turnaround, self.execution)


def stretch(turnaround: float, execution: float) -> float:
    """Batsim's slowdown of a job, from its two times in seconds; infinite if it took no time."""
    return turnaround / execution if execution else math.inf


class Tally(Struct):
    """Numbers of ended jobs from which figures are computed: some thirty bytes for each, in order of completion.

    Attributes:
        states: final state -> number of jobs, rejected ones included.
        submits, starts, finishes: seconds, one each for every job that ran.
        sizes: compute hosts that each of these had.
        attempts: the jobs that may be attempts of one, their rows as places in these; empty if none can be.
    """

    states: Counter[str] = field(default_factory=Counter)
    submits: array[float] = field(default_factory=numbers)
    starts: array[float] = field(default_factory=numbers)
    finishes: array[float] = field(default_factory=numbers)
    sizes: array[int] = field(default_factory=counts)
    attempts: list[Attempt] = []

    @classmethod
    def of(cls, records: Iterable[JobRecord], hosts: int) -> Tally:
        """Return the tally of these records, of a machine with `hosts` compute hosts."""
        tally, every = cls(), list(records)
        tally.add(every, hosts)
        if found := attempts_among(every, hosts):
            #: Place among all -> place among those that ran.
            places = list(accumulate((not record.rejected for record in every), initial=0))
            tally.attempts = [one._replace(row=-1 if every[one.row].rejected else places[one.row]) for one in found]
        return tally

    def add(self, records: Sequence[JobRecord], hosts: int, *, again: bool = False) -> None:
        """Count more jobs, of a machine with `hosts` compute hosts; note attempts if jobs may be submitted `again`."""
        if again:
            self._note_attempts(records, hosts)
        self.states.update([record.state for record in records])
        ran = [record for record in records if record.state != REJECTED]
        self.submits.extend([record.job.submit_time for record in ran])
        self.starts.extend([record.start for record in ran])
        self.finishes.extend([record.finish for record in ran])
        self.sizes.extend([record.size_on(hosts) for record in ran])

    def _note_attempts(self, records: Sequence[JobRecord], hosts: int) -> None:
        """Note which of the records may be attempts: only what did not succeed is submitted again."""
        row = len(self.starts)
        for record in records:
            if record.state != COMPLETED_SUCCESSFULLY or has_sign(record.job.id):
                self.attempts.append(attempt_of(record, -1 if record.state == REJECTED else row, hosts))
            row += record.state != REJECTED

    @property
    def ran(self) -> int:
        """Number of jobs that were not rejected."""
        return len(self.starts)

    @property
    def jobs(self) -> int:
        """Number of jobs, rejected ones included."""
        return self.ran + self.states[REJECTED]

    @property
    def makespan(self) -> float:
        """Latest finish, 0 if no job ran."""
        return max(self.finishes, default=0.0)

    def waits(self) -> Iterator[float]:
        """Seconds from submission to start, of each job that ran."""
        return map(sub, self.starts, self.submits)

    def runs(self) -> Iterator[float]:
        """Seconds from start to finish, of each job that ran."""
        return map(sub, self.finishes, self.starts)

    def turnarounds(self) -> Iterator[float]:
        """Seconds from submission to finish, of each job that ran."""
        return map(sub, self.finishes, self.submits)

    def slowdowns(self) -> Iterator[float]:
        """Batsim's slowdown, of each job that ran."""
        return map(stretch, self.turnarounds(), self.runs())


def attempt_of(record: JobRecord, row: int, hosts: int) -> Attempt:
    """Return a record as an attempt, with its row, on a machine with `hosts` compute hosts."""
    job, had = record.job, record.size_on(hosts)
    return Attempt(
        row, job.id, job.size, had, job.submit_time, record.start, record.finish, record.state, record.metadata
    )


def attempts_among(records: Sequence[JobRecord], hosts: int) -> list[Attempt]:
    """Return the records that may be attempts of one job, by their names, with their places as rows."""
    later = [record.job.id for record in records if has_sign(record.job.id)]
    if not later:
        return []
    named = bases_of(later).union(later)
    return [attempt_of(record, row, hosts) for row, record in enumerate(records) if record.job.id in named]


class SlowedJob(Struct, frozen=True):
    """A job that was slowed down by others on the same links or hosts.

    Attributes:
        job_id: as "workload!name".
        execution: seconds from its start to its end.
        alone: seconds in which it would have done the same if nothing else had run.
    """

    job_id: str
    execution: float
    alone: float


#: Records that are passed on at a time: done now and then it costs less than in the middle of each end.
BATCH: Final = 256


class EndedJobs:
    """The records of ended jobs, in order of completion or rejection; their numbers alone if records are passed on."""

    def __init__(
        self, hosts: int, pass_on: Callable[[Sequence[JobRecord]], object] | None = None, *, again: bool = False
    ) -> None:
        """`hosts` is the number of compute hosts; `pass_on` receives some records at a time, which are not kept.

        With `again`, jobs may be submitted again: of those that did not succeed, more is kept.
        """
        self._hosts, self._pass_on, self._again = hosts, pass_on, again
        #: Number of ended jobs, rejected ones included.
        self.count = 0
        #: All of them, or those that were not passed on yet.
        self.records: list[JobRecord] = []
        self._tally = Tally()
        #: Those that others have slowed down; kept also if records are passed on.
        self.slowed: list[SlowedJob] = []

    def add(self, record: JobRecord) -> None:
        """Note that a job has ended."""
        self.count += 1
        self.records.append(record)
        if self._pass_on is not None and len(self.records) >= BATCH:
            self._hand_over(self._pass_on)

    def tally(self) -> Tally | None:
        """Return the numbers of all jobs, the last of which are passed on now; None if the records are kept."""
        if self._pass_on is None:
            return None
        self._hand_over(self._pass_on)
        return self._tally

    def _hand_over(self, pass_on: Callable[[Sequence[JobRecord]], object]) -> None:
        self._tally.add(self.records, self._hosts, again=self._again)
        pass_on(self.records)
        self.records = []


class UnavailableHosts(NamedTuple):
    """The compute hosts that external events made unavailable, all of them, from a time in seconds on."""

    time: float
    hosts: HostSet


class Result(Brief, frozen=True, dict=True):  # dict: for what is computed once
    """The result of a whole simulation.

    Attributes:
        jobs: in order of completion or rejection, Batsim's order; empty if they were passed on as they ended.
        host_count: compute hosts that took part.
        makespan: latest finish of a job, 0 if none ran.
        end: when the simulation ended; later than `makespan` if a call or an event was still to come.
        messages: requests sent, the first and the last included.
        host_seconds: state of a host (idle, computing, sleeping, switching_on, switching_off, unavailable) -> seconds,
            summed over the hosts, each counted up to its last change of state, as Batsim does.
        joules: consumed by all hosts from the first submission to the last completion; 0 if energy is not counted.
        switch_requests: power state changes asked for.
        host_switches: the same, counted for each host.
        approximations: one line for each simplification that had a part in this run.
        deciding_seconds: wall-clock time spent waiting for the scheduler.
        storage_count: storage hosts, numbered after the compute hosts.
        files: the names and the form of the result files of the generation that was played.
        simulating_seconds: the rest of the wall-clock time.
        trace: rows of the trace files; None if nobody wanted them.
        consumed_joules: `joules` as Batsim writes them, which takes what it never measured for -1 J: -1 if energy was
            counted from 0 and no job ran.
        tally: the numbers of jobs that were passed on; None if `jobs` has them all.
        tables: what the algorithm has written down itself; the simulator knows of none.
        unavailable: a row for each change of the hosts that are unavailable, in order of time.
        slowed: the jobs that others have slowed down, in order of completion.
        features: what the scheduler asked Batsim 5 for; None of earlier versions, whose settings say it.
    """

    jobs: tuple[JobRecord, ...]
    host_count: int
    makespan: float
    end: float
    messages: int
    host_seconds: Mapping[str, float]
    joules: float
    switch_requests: int
    host_switches: int
    approximations: tuple[str, ...]
    deciding_seconds: float
    simulating_seconds: float
    trace: Trace | None = None
    storage_count: int = 0
    files: FileForm = BATSIM_4
    consumed_joules: float = 0.0
    tally: Tally | None = None
    tables: tuple[Table, ...] = ()
    unavailable: tuple[UnavailableHosts, ...] = ()
    slowed: tuple[SlowedJob, ...] = ()
    features: Features | None = None

    @cached_property
    def counted(self) -> Tally:
        """The numbers of all jobs."""
        return Tally.of(self.jobs, self.host_count) if self.tally is None else self.tally
