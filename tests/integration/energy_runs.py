"""Runs on the hosts of two kinds that sleep of the contract suite, for what algorithms that save energy promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.model.profile import parse_profile
from batsched_py.model.workload import Workload
from batsched_py.results.records import Result
from batsched_py.testing import Case
from batsched_py.testing.case import JobSpec
from batsched_py.testing.play import Watch
from tests.integration.variants import HOSTS
from tests.recorded_run import RecordedRun

#: (submit time, hosts, run time, walltime).
Spec = tuple[int, int, int, int]
SPECS = st.lists(
    st.tuples(st.integers(0, 90), st.integers(1, HOSTS), st.integers(1, 25), st.integers(1, 40)),
    min_size=1,
    max_size=15,
)


class ComputingCase(Case, frozen=True, kw_only=True):
    """A case whose jobs are tasks, which take so long at 1 Gflop/s."""

    def workload(self) -> Workload:
        """The jobs; the names of their profiles say how many seconds they would be as delays."""
        delays = super().workload()
        tasks = {
            name: parse_profile(name, {"type": "parallel_homogeneous", "cpu": float(name[1:]) * 1e9, "com": 0})
            for name in delays.profiles
        }
        return replace(delays, profiles=tasks)


def run(
    name: str,
    options: Mapping[str, Any],
    specs: Sequence[JobSpec],
    *,
    computing: bool = False,
    watch: Watch | None = None,
) -> tuple[Result, RecordedRun]:
    """Play it to its end."""
    case = (ComputingCase if computing else Case)(jobs=tuple(specs), energy=True)
    talk = RecordedRun(name, options, watch=watch)
    return talk.run([case.workload()], case.settings(), case.platform(), trace=True), talk


def starts(result: Result) -> list[float]:
    """Return the starts of the jobs, in the order in which they were given."""
    return [record.start for record in sorted(result.jobs, key=lambda record: record.job.id)]
