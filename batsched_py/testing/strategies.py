"""Hypothesis strategies for cases, with small numbers, so that instants coincide."""

from __future__ import annotations

from hypothesis import strategies as st

from batsched_py.hostset import HostSet
from batsched_py.testing.case import Case, JobSpec, Outage, Peer

#: Factor for all times of a case in which hosts have time to fall asleep.
LONG = 30


def job_specs(hosts: int, *, walltimes: bool = True) -> st.SearchStrategy[JobSpec]:
    """Draw jobs: some walltimes stop the job, some jobs have none, a few are larger than the machine."""
    submissions = st.one_of(st.integers(0, 12), st.integers(0, 12), st.sampled_from([1 / 3, 20 / 3]))
    sizes = st.one_of(*[st.integers(1, hosts)] * 8, st.integers(hosts + 1, hosts + 3))
    limits = st.one_of(*[st.integers(1, 12)] * 5, st.none() if walltimes else st.integers(1, 12))
    return st.tuples(submissions, sizes, st.integers(1, 9), limits)


@st.composite
def outages(draw: st.DrawFn, hosts: int) -> tuple[Outage, ...]:
    """Draw outages: each host fails at most once; some never come back."""
    left = list(range(hosts))
    drawn: list[Outage] = []
    for _ in range(draw(st.integers(1, 3))):
        if not left:
            break
        chosen = draw(st.lists(st.sampled_from(left), min_size=1, unique=True))
        left = [host for host in left if host not in chosen]
        begin = draw(st.integers(0, 15))
        length = draw(st.one_of(st.integers(1, 10), st.integers(1, 10), st.none()))
        drawn.append((begin, str(HostSet.from_ids(chosen)), None if length is None else begin + length))
    return tuple(drawn)


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    hosts: int = 6,
    peer: Peer = "simulator",
    energy: bool = False,
    dynamic: bool = False,
    failing: bool | None = False,
    walltimes: bool = True,
    most_jobs: int = 20,
) -> Case:
    """Draw a case of up to `most_jobs` jobs; `failing` adds outages, to some if it is None.

    With `energy` some last long enough to sleep in.
    """
    if failing is None:
        failing = draw(st.booleans())
    jobs = draw(st.lists(job_specs(hosts, walltimes=walltimes), min_size=1, max_size=most_jobs))
    failures = draw(outages(hosts)) if failing else ()
    scale = draw(st.sampled_from((1, 1, LONG))) if energy else 1
    return Case(
        hosts=hosts,
        jobs=tuple(
            (submit * scale, size, run * scale, None if walltime is None else walltime * scale)
            for submit, size, run, walltime in jobs
        ),
        outages=tuple((begin * scale, failed, None if end is None else end * scale) for begin, failed, end in failures),
        peer=peer,
        seed=draw(st.integers(0, 2**16)) if peer in ("torn", "late") else 0,
        energy=energy,
        dynamic=dynamic,
        acknowledge=draw(st.booleans()) if dynamic else False,
    )
