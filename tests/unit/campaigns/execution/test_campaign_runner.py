"""Running campaigns: what is made, what is not made again, and what becomes of failures."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from pathlib import Path

import pytest

from batsched_py.campaigns import Variant, run_study
from batsched_py.campaigns.execution.batch_run import run_batch
from batsched_py.campaigns.execution.batches import Batch, FinishedRun, make_batches
from batsched_py.campaigns.execution.campaign_runner import CampaignState, forget_failed, read_state, run_missing
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.results.groups import group_studies
from batsched_py.errors import OptionError
from batsched_py.traces.lublin import Drawn
from tests.studies import STUDY, HereWorkers, planned

#: Starts at once all that fits, and remembers from run to run what it must not.
FORGETFUL = """
import other
from batsched_py.api import NoOptions, Plan, Scheduler, View


class Mine(Scheduler[NoOptions]):
    name = "mine"

    def begin(self, view: View, plan: Plan) -> None:
        other.runs += 1
        assert other.runs == 1

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)
"""


class Dying(HereWorkers):
    """Dies after some batches, as a program that is killed."""

    def __init__(self, after: int) -> None:
        self.after = after

    def run(self, batches: Iterable[Batch]) -> Generator[tuple[Batch, list[FinishedRun]], None, None]:
        """As many as it has left."""
        for number, done in enumerate(super().run(batches)):
            if number == self.after:
                raise KeyboardInterrupt
            yield done


def ran(plan: CampaignPlan, folder: Path) -> CampaignState:
    """All runs of a plan, in a store."""
    store = RunStore(folder)
    return run_missing(read_state(plan, store), store, HereWorkers(), jobs=plan.campaign.jobs)


def test_a_campaign_has_the_outcomes_of_a_study(tmp_path: Path) -> None:
    """One path for runs and statistics: `compare` is the small case."""
    plan = planned(tmp_path)
    [group] = group_studies(plan, ran(plan, tmp_path / "store").ended)
    workloads = {f"lublin seed={seed}": Drawn(jobs=20, hosts=8, seed=seed) for seed in (1, 2, 3)}
    variants = [Variant(f"backfill(depth={depth})", "backfill", {"depth": depth}) for depth in (1, 4)]
    study = run_study(tmp_path / "p.xml", workloads, [*variants, Variant("fcfs", "fcfs")])
    assert group.study.outcomes == study.outcomes
    assert group.study.workloads == study.workloads


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    """A campaign that was stopped goes on where it was; one that is larger makes what is new."""
    plan, store = planned(tmp_path), RunStore(tmp_path / "store")
    with pytest.raises(KeyboardInterrupt):
        run_missing(read_state(plan, store), store, Dying(2), jobs=False)
    state = read_state(plan, store)
    assert 0 < len(state.done) < 9
    made: list[str] = []
    state = run_missing(state, store, HereWorkers(), jobs=False, show=lambda run, _: made.append(run.key))
    assert (len(state.done), state.missing) == (9, ())
    assert len(made) == len(set(made)) < 9
    larger = planned(tmp_path, STUDY.replace("[1, 4]", "[1, 2, 4]"))
    assert len(read_state(larger, store).missing) == 3


def test_a_run_that_fails_is_kept_with_its_error(tmp_path: Path) -> None:
    """The others are made; it is made again if that is wanted."""
    plan = planned(tmp_path, STUDY.replace('"fcfs"', '"crasher"'))
    store = RunStore(tmp_path)
    state = ran(plan, tmp_path)
    assert (len(state.done), len(state.failed)) == (6, 3)
    assert all("failed on purpose" in run.outcome.error and run.outcome.exit_code == 3 for run in state.failed.values())
    assert read_state(plan, store).missing == ()
    again = forget_failed(plan, read_state(plan, store), store)
    assert [run.variant.name for run in again.missing] == ["crasher"] * 3
    assert len(read_state(plan, store).missing) == 3


def test_rows_of_jobs_are_made_when_they_are_wanted(tmp_path: Path) -> None:
    """They are also made for runs that are stored without them."""
    ran(planned(tmp_path), tmp_path / "store")
    plan = planned(tmp_path, STUDY + "[results]\njobs = true\n")
    assert len(read_state(plan, RunStore(tmp_path / "store")).missing) == 9
    ran(plan, tmp_path / "store")
    assert read_state(plan, RunStore(tmp_path / "store")).missing == ()


def test_no_run_sees_what_another_left_in_a_module(tmp_path: Path) -> None:
    """Neither in the algorithm's nor in one beside it, though they share a process."""
    (tmp_path / "mine.py").write_text(FORGETFUL)
    (tmp_path / "other.py").write_text("runs = 0\n")
    plan = planned(tmp_path, STUDY.replace('"fcfs"', '"mine.py:Mine"'))
    assert [run.outcome.error for run in ran(plan, tmp_path / "store").failed.values()] == []


@pytest.mark.parametrize(("workers", "sizes"), [(1, [2, 1, 2, 1, 2, 1]), (3, [1] * 9)])
def test_batches_are_of_one_workload(tmp_path: Path, workers: int, sizes: list[int]) -> None:
    """They are small if there are few runs for each worker."""
    plan = planned(tmp_path)
    batches = list(make_batches(plan.runs, jobs=False, count=9, workers=workers))
    assert [len(batch.runs) for batch in batches] == sizes
    assert [run.key for batch in batches for run in batch.runs] == [run.key for run in plan.runs]


def test_a_worker_with_another_program_makes_no_run(tmp_path: Path) -> None:
    """Its results would be kept under keys that are not theirs."""
    [batch, *_] = make_batches(planned(tmp_path).runs, jobs=False, count=9, workers=1)
    with pytest.raises(OptionError, match="a worker has another batsched-py"):
        run_batch(batch.environment, batch.workload, batch.specs, jobs=False, code="another")


def empty(path: Path) -> None:
    """As a full disk leaves it."""
    path.write_bytes(b"")


def cut(path: Path) -> None:
    """As a power failure leaves it."""
    path.write_bytes(path.read_bytes()[:-40])


def other(path: Path) -> None:
    """Another digit, which is as good a number or column."""
    content = path.read_bytes()
    at = next(at for at in range(len(content) // 3, len(content)) if content[at : at + 1] in b"2345678")
    path.write_bytes(content[:at] + b"1" + content[at + 1 :])


def text(path: Path) -> None:
    """As a mistake leaves it."""
    path.write_text("bad\n")


def gone(path: Path) -> None:
    """Removed by somebody."""
    path.unlink()


@pytest.mark.parametrize("damage", [empty, cut, other, text, gone])
@pytest.mark.parametrize("kind", ["runs", "jobs"])
def test_a_damaged_file_costs_its_run(kind: str, damage: Callable[[Path], None], tmp_path: Path) -> None:
    """One line names it; the run is made again, with the same result, and all others are not."""
    plan, store = planned(tmp_path, STUDY + "[results]\njobs = true\n"), RunStore(tmp_path)
    whole = ran(plan, tmp_path).done
    path = sorted((tmp_path / kind).glob("*/*"))[4]
    damage(path)
    told: list[str] = []
    state = read_state(plan, store, told.append)
    key = path.parent.name + path.stem
    assert ([run.key for run in state.missing], len(state.done), state.failed) == ([key], 8, {})
    if damage is not gone:
        [line] = told
        assert line.startswith(f"{path}: ")
        assert line.endswith("; its run counts as missing, and will be made again")
    again = ran(plan, tmp_path).done
    assert {key: run.outcome for key, run in again.items()} == {key: run.outcome for key, run in whole.items()}
    assert read_state(plan, store, told.append).missing == ()
    assert len(told) == (0 if damage is gone else 1)
