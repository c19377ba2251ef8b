"""Studies: each algorithm on each workload, one after the other or in processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.campaigns import Drawn, Variant, run_study
from batsched_py.errors import BatschedError, OptionError, PluginError, WorkloadError
from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.settings import Settings
from batsched_py.results.records import Result
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.schedulers.fcfs import Fcfs
from tests.clone import ROOT
from tests.platforms import plain_platform

MACHINE = plain_platform(8)
WORKLOADS: dict[str, WorkloadLike] = {f"w{seed}": Drawn(jobs=20, hosts=8, seed=seed) for seed in range(3)}
EASY, FCFS, CRASHER = Variant("easy", "easy"), Variant("first", Fcfs), Variant("crasher", "crasher")


class Forgetful(Scheduler[NoOptions]):
    """FCFS that remembers what it must not: how often it has been begun in this process."""

    name = "forgetful"
    began = 0

    def begin(self, view: View, plan: Plan) -> None:
        type(self).began += 1
        assert self.began == 1

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is None:
                return
            plan.start(job, hosts)


class Killed(Scheduler[NoOptions]):
    """Takes its process with it."""

    name = "killed"

    def decide(self, view: View, plan: Plan) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Keeper:
    """Keeps what a run left, in files that tell whose it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, workload: str, variant: str, result: Result) -> None:
        assert result.trace is not None
        (self.folder / f"{workload}-{variant}").write_text(f"{len(result.jobs)}")

    @contextmanager
    def decisions(self, workload: str, variant: str) -> Iterator[Callable[[Sequence[DecisionRow]], None]]:
        """Keep the kinds of the rows, if the run ends well."""
        kinds: list[str] = []
        yield lambda rows: kinds.extend(row.kind for row in rows)
        (self.folder / f"{workload}-{variant}-kinds").write_text(" ".join(sorted(set(kinds))))


def test_the_outcomes_are_the_same_however_many_processes_there_are() -> None:
    """In this process, in one, in three; by workload, then by algorithm."""
    studies = [run_study(MACHINE, WORKLOADS, [EASY, FCFS, CRASHER], processes=processes) for processes in (None, 1, 3)]
    assert studies[0] == studies[1] == studies[2]
    (study, _, _) = studies
    assert [(outcome.workload, outcome.variant) for outcome in study.outcomes] == [
        (workload, variant) for workload in WORKLOADS for variant in ("easy", "first", "crasher")
    ]
    assert [outcome.workload for outcome in study.of("first")] == list(WORKLOADS)


def test_an_algorithm_that_fails_spoils_its_own_runs_only() -> None:
    """The reason of its failure is one line."""
    study = run_study(MACHINE, WORKLOADS, [CRASHER, EASY])
    assert [outcome.variant for outcome in study.failures] == ["crasher"] * 3
    assert {outcome.exit_code for outcome in study.failures} == {3}
    assert all("failed on purpose" in outcome.error and "\n" not in outcome.error for outcome in study.failures)
    assert all(outcome.metrics is not None and outcome.metrics.jobs == 20 for outcome in study.of("easy"))


def test_the_death_of_a_process_is_a_failed_run() -> None:
    """The others are kept."""
    killed = Variant("killed", f"{__file__}:Killed")
    study = run_study(MACHINE, WORKLOADS, [killed, EASY], processes=2)
    assert {outcome.error for outcome in study.of("killed")} == {
        "its process ended by SIGKILL in the middle of the run"
    }
    assert not any(outcome.error for outcome in study.of("easy"))


def test_no_run_sees_what_another_left_in_its_module() -> None:
    """One process at a time is as good as three; without processes a module is shared, as in any script."""
    forgetful = Variant("forgetful", f"{__file__}:Forgetful")
    assert run_study(MACHINE, WORKLOADS, [forgetful], processes=1).failures == ()


@pytest.mark.parametrize("processes", [None, 2])
def test_results_can_be_kept_where_they_are_made(tmp_path: Path, processes: int | None) -> None:
    """With the rows of the trace files."""
    run_study(MACHINE, WORKLOADS, [EASY, FCFS], keep=Keeper(tmp_path), processes=processes)
    names = [f"{workload}-{variant}" for workload in WORKLOADS for variant in ("easy", "first")]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert {path.read_text() for path in tmp_path.iterdir()} == {"20"}


@pytest.mark.parametrize("processes", [None, 2])
def test_decisions_can_be_kept_of_runs_that_end_well(tmp_path: Path, processes: int | None) -> None:
    """They are kept where they are made; those of a run that fails are dropped."""
    study = run_study(MACHINE, WORKLOADS, [EASY, CRASHER], open_log=Keeper(tmp_path).decisions, processes=processes)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{workload}-easy-kinds" for workload in WORKLOADS]
    assert (tmp_path / "w0-easy-kinds").read_text() == "held hosts promised"
    assert {outcome.variant for outcome in study.failures} == {"crasher"}


def test_progress_is_told_run_by_run() -> None:
    """With the number of all."""
    told: list[tuple[int, int]] = []
    run_study(MACHINE, WORKLOADS, [EASY, FCFS], progress=lambda over, count: told.append((over, count)))
    assert told == [(over, 6) for over in range(7)]


def test_runs_of_the_same_jobs_are_known_by_them() -> None:
    """Their order does not matter; a rejected job makes another set."""
    large: dict[str, WorkloadLike] = {"large": Drawn(jobs=60, hosts=32, seed=1)}
    study = run_study(MACHINE, large, [EASY, FCFS], settings=Settings(allow_oversized=True))
    first, second = study.outcomes
    assert first.ran == second.ran
    assert first.succeeded == second.succeeded
    assert first.metrics is not None
    assert first.metrics.rejected > 0
    assert len(first.warnings) > 0
    small = run_study(MACHINE, {"large": Drawn(jobs=60, hosts=8, seed=1)}, [EASY])
    assert small.outcomes[0].ran != first.ran


def test_energy_is_there_if_it_was_counted() -> None:
    """Energy that was not counted is None, not 0."""

    def joules(*, energy: bool) -> float | None:
        platform = ROOT / "platforms" / "energy16.xml"
        study = run_study(platform, {"w": Drawn(jobs=10, hosts=16)}, [EASY], settings=Settings(energy=energy))
        return None if study.outcomes[0].metrics is None else study.outcomes[0].metrics.energy

    assert joules(energy=False) is None
    assert (joules(energy=True) or 0) > 0


@pytest.mark.parametrize(
    ("workloads", "variants", "error"),
    [
        ({"w": "nowhere.json"}, [EASY], WorkloadError),
        ({"w": Drawn(jobs=60, hosts=32)}, [EASY], WorkloadError),
        ({"w": Drawn(jobs=0, hosts=8)}, [EASY], OptionError),
        (WORKLOADS, [Variant("who", "nobody")], PluginError),
        (WORKLOADS, [Variant("easy", "easy", {"reserve": "cores"})], OptionError),
        (WORKLOADS, [EASY, EASY], OptionError),
    ],
    ids=["no file", "jobs too large", "no jobs", "no algorithm", "no option", "same name"],
)
def test_wrong_input_is_told_before_anything_runs(
    workloads: dict[str, WorkloadLike], variants: list[Variant], error: type[BatschedError]
) -> None:
    """Though other workloads and algorithms are right."""
    told: list[object] = []
    with pytest.raises(error):
        run_study(MACHINE, {**WORKLOADS, **workloads}, [FCFS, *variants], progress=lambda *some: told.append(some))
    assert told == []
