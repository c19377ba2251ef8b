"""Cases whose jobs may have leases, and what a run of ar_preempt must keep whatever they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import read_terms
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.protocol.events import COMPLETED_KILLED, REJECTED
from batsched_py.reading.faults import FieldError
from batsched_py.results.records import JobRecord
from batsched_py.schedulers.ar_preempt import ArPreempt
from batsched_py.session.session import Session
from batsched_py.testing.case import Case, JobSpec, Peer
from batsched_py.testing.play import Played, Player
from batsched_py.testing.strategies import outages

HOSTS = 6
#: Seconds by which news may be late, by who plays Batsim.
LATENESS: dict[Peer, float] = {"simulator": 1e-5, "torn": 2e-3, "messages": 0.2, "late": 30.0}


class LeaseCase(Case, frozen=True, kw_only=True):
    """A case; the n-th of `leases` is that of the n-th job, None for none."""

    leases: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"LeaseCase({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__struct_fields__)})"

    def workload(self) -> Workload:
        """With the leases."""
        plain = super().workload()
        leases = {f"{number:03d}": lease for number, lease in enumerate(self.leases) if lease is not None}
        jobs = [
            replace(job, members={**job.members, "lease": leases[job.id]}) if job.id in leases else job
            for job in plain.jobs
        ]
        return replace(plain, jobs=tuple(jobs))


NONSENSE = ({"start": "soon"}, {"begin": 5}, {"start": 5, "preemptible": "no"}, 7)


@st.composite
def leased_jobs(draw: st.DrawFn) -> tuple[JobSpec, Any]:
    """Long best-effort jobs, and reservations of many hosts that come while they run; some of other kinds."""
    kind = draw(st.sampled_from(["plain", "plain", "kept", "reserved", "reserved", "later", "now", "wrong"]))
    submit, size = draw(st.integers(0, 20)), draw(st.integers(1, HOSTS))
    run = draw(st.integers(1, 40) if kind in ("plain", "kept") else st.integers(1, 12))
    walltime = draw(st.sampled_from([run, run + 1, run + 5, 2 * run, max(1, run - 1)]))
    leases = {
        "plain": st.none(),
        "kept": st.just({"preemptible": False}),
        "reserved": st.builds(lambda start: {"start": start, "preemptible": False}, st.integers(0, 50)),
        "later": st.builds(lambda later: {"start": f"+{later}"}, st.integers(0, 30)),
        "now": st.just({"start": "now"}),
        "wrong": st.sampled_from(NONSENSE),
    }
    return (submit, size, run, walltime), draw(leases[kind])


@st.composite
def lease_cases(draw: st.DrawFn, *, peer: Peer, failing: bool = False, dynamic: bool = True) -> LeaseCase:
    """Mixes of best-effort jobs, advance reservations, immediate leases and nonsense."""
    drawn = draw(st.lists(leased_jobs(), min_size=2, max_size=16))
    return LeaseCase(
        hosts=HOSTS,
        jobs=tuple(spec for spec, _ in drawn),
        leases=tuple(lease for _, lease in drawn),
        outages=draw(outages(HOSTS)) if failing else (),
        peer=peer,
        seed=draw(st.integers(0, 2**16)),
        dynamic=dynamic,
        acknowledge=draw(st.booleans()) and dynamic,
    )


def fault(job: Job) -> str:
    """Return what is wrong with its lease."""
    try:
        read_terms(job)
    except FieldError as error:
        return str(error)
    return ""


class Run:
    """One run, watched: promises kept after each message."""

    def __init__(self, case: Case, **options: Any) -> None:
        self.case, self.warnings = case, list[str]()
        #: Job id -> instant of each accepted advance reservation.
        self.accepted: dict[str, float] = {}
        #: Ids of jobs that have started.
        self.started: set[str] = set()
        player = Player(load("ar_preempt"), options, case, self.watch, warn=self.warnings.append)
        self.played: Played = player.run()
        self.rejections: Mapping[str, str] = player.session.rejections

    def watch(self, session: Session, request: bytes, reply: bytes) -> None:
        """After each message: the book is right, best-effort jobs keep out of it, and a call is pending."""
        algorithm, view = session.scheduler, session.view
        assert isinstance(algorithm, ArPreempt)
        algorithm.book.check()
        self.accepted.update(algorithm.starts)
        for run in view.running:
            if run.job.id not in self.started and read_terms(run.job).kind is LeaseKind.BEST_EFFORT:
                assert not list(algorithm.book.touching(run.hosts, run.start, run.end)), f"{run} into a reservation"
        self.started.update(run.job.id for run in view.running)
        later = [start for start in algorithm.starts.values() if not view.due(start)]
        assert not later or any(call <= max(min(later), view.now + 0.02) for call in view.wakeups)

    def endings(self) -> dict[str, JobRecord]:
        """By job id, segments too."""
        found = {ending.job.id: ending for ending in self.played.endings}
        assert len(found) == len(self.played.endings), "a job ended twice"
        return found

    def check(self) -> None:
        """Assert what must be true of any run that comes to its end."""
        ended = self.endings()
        leases = {job_id.partition("#")[0] for job_id in ended}
        assert leases == set(self.case.job_ids()), "a job was lost"
        for job_id, ending in ended.items():
            first, _, number = job_id.partition("#")
            follower = f"{first}#{int(number or 0) + 1}"
            assert (follower in ended) is (ending.state == COMPLETED_KILLED), f"{job_id}: {ending}"
            self.check_terms(ending)

    def check_terms(self, ending: JobRecord) -> None:
        job = ending.job
        wrong = fault(job)
        if wrong:
            assert ending.state == REJECTED
            assert self.rejections[job.id].startswith((wrong, "needs ", "has no walltime"))
            return
        terms = read_terms(job)
        if ending.state == REJECTED:
            assert self.rejections[job.id]
            return
        if ending.state == COMPLETED_KILLED:
            assert terms.kind is LeaseKind.BEST_EFFORT
            assert terms.preemptible
        if terms.start is not None:
            late = ending.start - terms.start
            assert -2e-3 < late <= LATENESS[self.case.peer]
            told = any(line.partition(": ")[2].startswith(f"{job.id} starts ") for line in self.warnings)
            assert told is (late > 2e-3) or late < 2e-2, "silently late"
