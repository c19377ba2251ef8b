"""A schedule: the ended jobs of one run and its traces, the input of all reports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property

from batsched_py.reporting.schedules.attempts import Attempts, put_together
from batsched_py.reporting.schedules.contradictions import Contradictions
from batsched_py.reporting.schedules.lease_tables import (
    LeaseTables,
)
from batsched_py.reporting.schedules.occupancy import FreeHostCurve, occupancy_of
from batsched_py.reporting.schedules.outages import Outage
from batsched_py.reporting.schedules.placement_tables import PlacementRow
from batsched_py.reporting.schedules.run_time_tables import RunTimeRow
from batsched_py.reporting.schedules.timeline_tables import (
    TimelineChart,
)
from batsched_py.results.places import MachineCapacity
from batsched_py.results.records import JobRecord, attempts_among
from batsched_py.results.run_file import RunFile
from batsched_py.results.tracing import EnergyRows, PstateChange, StateRows
from batsched_py.text.representation import Brief


class Schedule(Brief, frozen=True, dict=True):  # dict: for cached properties
    """The jobs of one run, and its traces.

    Attributes:
        name: the name in tables: the prefix of its files, or their folder.
        jobs: the jobs in the order of the file. In a log their hosts are unknown and empty: see `size`.
        hosts: the number of compute hosts.
        batsim_row: column -> value as written, for the row of Batsim's `_schedule.csv`, or the members of Batsim 5's
            `schedule.json`; empty without this file.
        stretches: job id -> stretch as written in the file, for jobs that ran, if their times do not give it exactly.
        machine_states: the number of hosts in each state over time; None if not traced.
        consumed_energy: joules over time; None if not traced.
        pstate_changes: changes of power states in the order of the file; None if not traced.
        leases: the leases; None if the algorithm has none.
        timelines: the timelines of VMs; None if the algorithm has none.
        placements: job id -> work to place the job; None if the run has no placements.
        run_times: job id -> its predicted run time and its run time; None if the algorithm predicts none.
        alone: job id -> run time in seconds without other jobs on its links and hosts, for jobs that were slowed down;
            None if there is none, or if unknown.
        capacity: the resources of the machine; None if jobs have whole hosts only.
        outages: hosts that were unavailable for a time, if they were determined: see `with_outages`.
        unlisted: the number of jobs without a row: Batsim 1.4 omits rejected jobs.
        notes: assumptions and omissions, a line each.
        source: the path it was read from, for messages.
        run: the description of the run; None if there is none.
        log_start: the date at time 0 of the clock; None if unknown.
        zero: the time in the clock of a log that corresponds to 0 here.
        rows_found: rows of the jobs file that contradict themselves; None without a jobs file.
        lines: job id -> line of the jobs file, if all errors in it were collected.
    """

    name: str
    jobs: tuple[JobRecord, ...]
    hosts: int
    batsim_row: Mapping[str, str]
    stretches: Mapping[str, float] = {}
    machine_states: StateRows | None = None
    consumed_energy: EnergyRows | None = None
    pstate_changes: list[PstateChange] | None = None
    leases: LeaseTables | None = None
    timelines: TimelineChart | None = None
    placements: Mapping[str, PlacementRow] | None = None
    run_times: Mapping[str, RunTimeRow] | None = None
    alone: Mapping[str, float] | None = None
    capacity: MachineCapacity | None = None
    outages: tuple[Outage, ...] = ()
    unlisted: int = 0
    notes: tuple[str, ...] = ()
    source: str = ""
    run: RunFile | None = None
    log_start: datetime | None = None
    zero: float = 0.0
    rows_found: Contradictions | None = None
    lines: Mapping[str, int] = {}

    @property
    def end(self) -> float:
        """Return the last end of a job or a lease, 0 if nothing ran."""
        last = max((record.finish for record in self.ran), default=0.0)
        return last if self.leases is None else max(last, self.leases.end)

    @cached_property
    def ran(self) -> tuple[JobRecord, ...]:
        """Return the jobs that were not rejected."""
        return tuple(record for record in self.jobs if not record.rejected)

    @cached_property
    def attempts(self) -> Attempts:
        """Return the attempts of each job; their rows are indices into `jobs`."""
        return put_together(attempts_among(self.jobs, self.hosts), self.leases)

    @property
    def job_count(self) -> int:
        """Return the number of submitted jobs, with all attempts of a job counted once."""
        return len(self.jobs) - len(self.attempts.firsts) + self.unlisted

    @property
    def ran_attempts(self) -> tuple[JobRecord, ...]:
        """Return the attempts of jobs that ran, without overheads."""
        overheads = {one.job_id for job in self.attempts.jobs.values() for one in job.overheads}
        return tuple(record for record in self.ran if record.job.id not in overheads) if overheads else self.ran

    def first_id(self, job_id: str) -> str:
        """Return the id of a job's first attempt; usually its own."""
        return self.attempts.firsts.get(job_id, job_id)

    @cached_property
    def occupancy(self) -> FreeHostCurve:
        """Return the occupancy of compute hosts over time; meaningless if the hosts of jobs are unknown."""
        return occupancy_of(self.ran, self.hosts)

    @property
    def shares_hosts(self) -> bool:
        """Return True if jobs request parts of hosts, and several had one together."""
        return self.capacity is not None and self.hosts_known and self.occupancy.shared

    def first_submission(self, record: JobRecord) -> float:
        """Return the submission time of a job's first attempt."""
        first = self.attempts.firsts.get(record.job.id)
        return record.job.submit_time if first is None else self.attempts.jobs[first].first.submitted

    @cached_property
    def hosts_known(self) -> bool:
        """Return True if the hosts of all jobs are known, not only their numbers."""
        return all(record.hosts for record in self.ran if record.job.size)

    def size(self, record: JobRecord) -> int:
        """Return the number of compute hosts that a job had; its size if its hosts are unknown."""
        return record.size_on(self.hosts)

    def stretch(self, record: JobRecord) -> float:
        """Return turnaround / run of a job that ran, as written, else from its times; infinite if it took no time."""
        written = self.stretches.get(record.job.id)
        return record.stretch if written is None else written
