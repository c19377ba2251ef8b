"""Records: the results of a simulation, for each job and for the whole run."""

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
from batsched_py.model.features import Features
from batsched_py.model.job import Job
from batsched_py.model.table import Table
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.results.attempts import Attempt, bases_of, has_sign
from batsched_py.results.file_forms import BATSIM_4, FileForm
from batsched_py.results.places import JobPlaces, MachineCapacity
from batsched_py.results.tracing import Trace, counts, numbers
from batsched_py.text.representation import Brief


class JobRecord(Struct, frozen=True, gc=False):
    """The end of a job. Times in seconds since the start of the simulation.

    Attributes:
        job: the job as sent, with its id "workload!name".
        state: final state in Batsim's terms (COMPLETED_SUCCESSFULLY, REJECTED...).
        return_code: 0, the profile's `ret`, -1 (walltime, killed delay) or -2 (killed parallel task).
        start: 0 for a rejected job, like `finish`.
        finish: at least 10 microseconds after `start`, as Batsim records it.
        hosts: allocated hosts; empty for a rejected job.
        energy: joules consumed by its hosts during the job; -1 without energy accounting.
        metadata: text that the scheduler attached to it.
        places: where its tasks ran, if it requests parts of hosts; None if it has whole hosts, or never ran.
    """

    job: Job
    state: str
    return_code: int
    start: float
    finish: float
    hosts: HostSet
    energy: float = -1.0
    metadata: str = ""
    places: JobPlaces | None = None

    @property
    def workload(self) -> str:
        """Name of its workload."""
        return self.job.workload

    @property
    def success(self) -> bool:
        """True if it completed in time, and returned 0."""
        return self.state == COMPLETED_SUCCESSFULLY

    @property
    def rejected(self) -> bool:
        """True if it never ran."""
        return self.state == REJECTED

    def size_on(self, hosts: int) -> int:
        """Return the number of compute hosts it had, of a total of `hosts`; its size if its hosts are unknown.

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

        It is infinite when start and finish are equal within the clock's resolution (after about 10**11 s).
        """
        return stretch(self.turnaround, self.execution)


def stretch(turnaround: float, execution: float) -> float:
    """Return Batsim's slowdown of a job from its two times in seconds; infinite for a duration of 0."""
    return turnaround / execution if execution else math.inf


class Tally(Struct):
    """The data of ended jobs from which metrics are computed: about thirty bytes per job, in order of completion.

    Attributes:
        states: final state -> number of jobs, rejected ones included.
        submits, starts, finishes: times in seconds, one for each job that ran.
        first: the first submission of all jobs, rejected ones included; infinite without jobs.
        sizes: number of compute hosts, one for each job that ran.
        attempts: possible attempts of resubmitted jobs, with indices into these columns as rows; empty if there can be
            none.
    """

    states: Counter[str] = field(default_factory=Counter)
    submits: array[float] = field(default_factory=numbers)
    starts: array[float] = field(default_factory=numbers)
    finishes: array[float] = field(default_factory=numbers)
    sizes: array[int] = field(default_factory=counts)
    attempts: list[Attempt] = []
    first: float = math.inf

    @classmethod
    def of(cls, records: Iterable[JobRecord], hosts: int) -> Tally:
        """Return the tally of these records, of a machine with `hosts` compute hosts."""
        tally, every = cls(), list(records)
        tally.add(every, hosts)
        if found := attempts_among(every, hosts):
            #: Index among all jobs -> index among those that ran.
            places = list(accumulate((not record.rejected for record in every), initial=0))
            tally.attempts = [one._replace(row=-1 if every[one.row].rejected else places[one.row]) for one in found]
        return tally

    def add(self, records: Sequence[JobRecord], hosts: int, *, again: bool = False) -> None:
        """Add jobs of a machine with `hosts` compute hosts; record attempts if jobs may be submitted `again`."""
        if again:
            self._note_attempts(records, hosts)
        self.states.update([record.state for record in records])
        self.first = min(self.first, min([record.job.submit_time for record in records], default=math.inf))
        ran = [record for record in records if record.state != REJECTED]
        self.submits.extend([record.job.submit_time for record in ran])
        self.starts.extend([record.start for record in ran])
        self.finishes.extend([record.finish for record in ran])
        self.sizes.extend([record.size_on(hosts) for record in ran])

    def _note_attempts(self, records: Sequence[JobRecord], hosts: int) -> None:
        """Record possible attempts: only unsuccessful jobs are resubmitted."""
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
    """Return the records that may be attempts of one job, by their names, with their indices as rows."""
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
        alone: duration in seconds if nothing else had run.
    """

    job_id: str
    execution: float
    alone: float


#: Number of records passed on at a time: batches cost less than a call at each end of a job.
BATCH: Final = 256


class EndedJobs:
    """The records of ended jobs, in order of completion or rejection; only a tally if records are passed on."""

    def __init__(
        self, hosts: int, pass_on: Callable[[Sequence[JobRecord]], object] | None = None, *, again: bool = False
    ) -> None:
        """Take the number of compute hosts; `pass_on` receives batches of records, which are then not kept.

        With `again`, jobs may be resubmitted: more data is kept of unsuccessful ones.
        """
        self._hosts, self._pass_on, self._again = hosts, pass_on, again
        #: Number of ended jobs, rejected ones included.
        self.count = 0
        #: All records, or those that were not passed on yet.
        self.records: list[JobRecord] = []
        self._tally = Tally()
        #: Jobs slowed down by others, also kept if records are passed on; None until a job that could be has ended.
        self.slowed: list[SlowedJob] | None = None

    def add(self, record: JobRecord) -> None:
        """Add the record of an ended job."""
        self.count += 1
        self.records.append(record)
        if self._pass_on is not None and len(self.records) >= BATCH:
            self._hand_over(self._pass_on)

    def tally(self) -> Tally | None:
        """Pass on the last records, and return the tally of all jobs; None if the records are kept."""
        if self._pass_on is None:
            return None
        self._hand_over(self._pass_on)
        return self._tally

    def _hand_over(self, pass_on: Callable[[Sequence[JobRecord]], object]) -> None:
        self._tally.add(self.records, self._hosts, again=self._again)
        pass_on(self.records)
        self.records = []


class UnavailableHosts(NamedTuple):
    """All compute hosts made unavailable by external events, from a time in seconds on."""

    time: float
    hosts: HostSet


class Result(Brief, frozen=True, dict=True):  # dict: for cached values
    """The result of a whole simulation.

    Attributes:
        jobs: in order of completion or rejection, Batsim's order; empty if they were passed on as they ended.
        host_count: number of compute hosts.
        makespan: latest finish of a job, 0 if none ran.
        end: end of the simulation; later than `makespan` if a call or an event was pending.
        messages: number of requests, including the first and the last.
        host_seconds: state of a host (idle, computing, sleeping, switching_on, switching_off, unavailable) -> seconds,
            summed over the hosts, each counted up to its last change of state, as Batsim does.
        joules: energy of all hosts from the first submission to the last completion; 0 without energy accounting.
        switch_requests: number of requested changes of power states.
        host_switches: number of these changes, summed over hosts.
        approximations: one line for each simplification that affected this run.
        deciding_seconds: wall-clock time spent waiting for the scheduler.
        storage_count: number of storage hosts, numbered after the compute hosts.
        files: names and form of the result files of the simulated generation.
        simulating_seconds: the rest of the wall-clock time.
        trace: rows of the trace files; None if they are disabled.
        consumed_joules: `joules` as Batsim writes them, with -1 J for values never measured: -1 if energy was counted
            from 0 and no job ran.
        tally: data of the jobs that were passed on; None if `jobs` contains all of them.
        tables: tables written by the algorithm itself; the simulator adds none.
        unavailable: a row for each change of the unavailable hosts, in order of time.
        slowed: the jobs slowed down by others, in order of completion; None if no job computed or sent anything while
            jobs shared hosts and links.
        features: features that the scheduler requested from Batsim 5; None for earlier versions, which use the
            settings.
        capacity: the resources of the machine; None if no job requests parts of hosts.
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
    slowed: tuple[SlowedJob, ...] | None = None
    features: Features | None = None
    capacity: MachineCapacity | None = None

    @cached_property
    def counted(self) -> Tally:
        """The tally of all jobs."""
        return Tally.of(self.jobs, self.host_count) if self.tally is None else self.tally
