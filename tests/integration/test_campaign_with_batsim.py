"""A campaign whose simulator is the program `batsim`: here a stand-in with Batsim's command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.builds import code_digest
from batsched_py.campaigns.execution.batch_run import run_batch
from batsched_py.campaigns.execution.batsim_run import simulate_with_batsim
from batsched_py.campaigns.execution.planned import execute
from batsched_py.campaigns.execution.stored_run import decode_run
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.errors import ConfigurationError, OptionError
from batsched_py.model.demand import TaskDemand
from tests.clone import ROOT
from tests.integration.packed_runs import packed_workload
from tests.studies import STUDY, planned

BATSIM = '[settings]\nsimulator = ["embedded", "batsim"]\n'


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> None:
    """Put a program `batsim` on the path, which is called with more arguments."""
    program = folder / "batsim"
    stand_in = ROOT / "tests" / "containers" / "batsim.py"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{stand_in}" "$@" {" ".join(more)}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def errors(plan: CampaignPlan) -> list[str]:
    """Return the lines of the error with which the first run with Batsim failed."""
    run = next(run for run in plan.runs if run.setting.environment.batsim is not None)
    [finished] = run_batch(run.setting.environment, run.source.workload, [run.spec], jobs=False, code=code_digest())
    return decode_run(Path("run"), finished.content).outcome.error.splitlines()


def test_batsim_takes_the_place_of_the_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same jobs and the same decisions the metrics are the same, to the microseconds of its files."""
    install(tmp_path, monkeypatch)
    plan = planned(tmp_path, STUDY + BATSIM)
    assert len(plan.keys) == 18
    half = len(plan.runs) // 2
    for ours, theirs in zip(plan.runs[:2], plan.runs[half : half + 2], strict=True):
        one, other = (execute(run.setting.environment, run.source.workload, run.spec) for run in (ours, theirs))
        assert one.outcome.metrics is not None
        assert other.outcome.error == ""
        assert other.outcome.metrics is not None
        assert one.outcome.metrics.jobs == other.outcome.metrics.jobs == 20
        assert other.outcome.metrics.mean_wait == pytest.approx(one.outcome.metrics.mean_wait, abs=1e-5)
        assert replace(one.outcome, metrics=None, approximations=()) == replace(other.outcome, metrics=None)


def test_a_batsim_that_fails_is_a_failed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last words of its log."""
    install(tmp_path, monkeypatch, "--die-before-connecting", "3")
    assert errors(planned(tmp_path, STUDY + BATSIM)) == ["Batsim ended with exit code 3: what():  No such thing"]


def test_a_worker_without_batsim_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run fails; others are made."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert errors(planned(tmp_path, STUDY + BATSIM)) == [
        "batsim is not on the path of the worker: install it there, or leave simulator out"
    ]


def test_settings_that_batsim_does_not_have_are_refused(tmp_path: Path) -> None:
    """Before anything runs."""
    with pytest.raises(ConfigurationError, match=r"settings\.message_latency: is for the embedded simulator"):
        planned(tmp_path, STUDY + BATSIM + "message_latency = true\n")


def test_jobs_that_need_shared_hosts_are_refused_before_batsim_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an algorithm that places tasks."""
    install(tmp_path, monkeypatch)
    plan = planned(tmp_path, STUDY + BATSIM)
    run = next(run for run in plan.runs if run.setting.environment.batsim is not None)
    environment, workload = run.setting.environment, packed_workload([(0, 1, 5, 9, TaskDemand(cores=500), False, 0)])
    assert environment.batsim is not None
    rule = "drawn: 000 requests parts of hosts, which Batsim shares between jobs only with --enable-compute-sharing"
    with pytest.raises(OptionError, match=rule):
        simulate_with_batsim(
            environment.batsim, environment.settings, workload, run.spec.variant, clock="zero", warn=print
        )
