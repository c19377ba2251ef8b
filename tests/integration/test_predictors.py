"""Backfilling by predicted run times: computed by hand, and properties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from batsched_py.errors import BatschedError, OptionError
from batsched_py.plugins import load
from batsched_py.protocol.events import COMPLETED_WALLTIME_REACHED
from batsched_py.reporting.api import measure_run, read_schedule
from batsched_py.results.records import JobRecord
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.testing import Case
from tests.clone import ROOT
from tests.drawing import given_once
from tests.integration.programs import run_here
from tests.integration.test_orders import schedule, users_workload
from tests.integration.variants import PLATFORM, SPECS, workload
from tests.recorded_run import RecordedRun

#: Two hosts. Ada's first two jobs take 10 s; later ones are predicted so. The third takes 50 s.
ADAS = [(0, 1, 10, 100), (0, 1, 10, 100), (20, 1, 50, 100), (21, 2, 10, 100), (22, 1, 5, 8), (31, 1, 10, 100)]


def starts_of_ada(options: Mapping[str, str], algorithm: str = "easy") -> tuple[list[float], list[float]]:
    """Return the starts of ada's jobs, and the promised starts of the fourth, without repetitions."""
    promised: list[float] = []

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        promise = session.plan.promises.get("w0!003")
        if promise is not None and promise.start not in promised[-1:]:
            promised.append(promise.start)

    jobs = users_workload([(*spec, "ada") for spec in ADAS])
    given = {"user": "owner", **options}
    recorded = RecordedRun(algorithm, given, watch=watch)
    recorded.run([jobs], on=Case(hosts=2).platform())
    return [record.start for record in recorded.by_submission()], promised


@pytest.mark.parametrize("algorithm", ["easy", "conservative", "backfill", "easy_plus_plus"])
@pytest.mark.parametrize("reserve", ["counts", "hosts"])
def test_promises_count_on_predictions_and_are_made_again_when_these_are_exceeded(algorithm: str, reserve: str) -> None:
    """The third is expected to end at 30, and after a correction at 20 + 10 + 60: the sixth ends before, at 41."""
    starts, promised = starts_of_ada({"predictor": "last2", "reserve": reserve}, algorithm)
    assert starts == [0, 0, 20, 70, 22, 31]
    assert promised == [30, 90]


def test_walltimes_count_without_a_predictor() -> None:
    """The sixth would end after the promised start of the fourth, 120."""
    assert starts_of_ada({}) == ([0, 0, 20, 70, 22, 80], [120])


def test_corrections_are_those_of_the_option() -> None:
    """Count on the walltime, or double 10 s: 20 s at 30, 40 s at 40 (the sixth has ended), 80 s at 60."""
    assert starts_of_ada({"predictor": "last2", "correction": "request"})[1] == [30, 120]
    assert starts_of_ada({"predictor": "last2", "correction": "doubling"}, "conservative")[1] == [30, 40, 60, 100]


def test_each_predictor_predicts_what_it_says() -> None:
    """The next of ada's jobs takes 15 s after three that took 10, 10 and 40 s."""
    specs = [(0, 1, 10, 100), (0, 1, 10, 100), (20, 1, 40, 100), (100, 1, 15, 90)]
    jobs = users_workload([(*spec, "ada") for spec in specs])
    expected = {"last2": 25, "mean": 20, "percentile": 40, "request": None, "clairvoyant": 15}
    for name, predicted in expected.items():
        session = Session(load("easy"), {"predictor": name, "user": "owner"})
        result = Simulation(PLATFORM, [jobs]).run(session.answer)
        rows = {row[0]: row[1:] for table in session.tables() for row in table.rows}
        assert result.jobs
        assert rows.get("w0!003") == (None if predicted is None else (predicted, 15, 0)), name


@given_once(SPECS)
def test_a_run_with_predictor_request_is_one_without_the_option(specs: list[tuple[int, int, int, int]]) -> None:
    """Byte for byte."""
    for name in ("easy", "conservative"):
        assert replies(name, {}, specs) == replies(name, {"predictor": "request"}, specs)


@given_once(SPECS)
def test_no_job_is_killed_because_of_a_prediction(specs: list[tuple[int, int, int, int]]) -> None:
    """Each ends after its run time, or at its walltime; each starts."""
    for name, options in (
        ("easy", {"predictor": "last2"}),
        ("conservative", {"predictor": "mean", "predictions": "anew"}),
    ):
        records = schedule(name, options, workload(specs))
        assert len(records) == len(specs)
        for record, (_, _, run, walltime) in zip(records, sorted_specs(specs), strict=True):
            assert math.isclose(record.finish - record.start, min(run, walltime))
            assert (record.state == COMPLETED_WALLTIME_REACHED) == (run >= walltime) or run == walltime


@given_once(SPECS)
def test_with_exact_predictions_promises_are_kept(specs: list[tuple[int, int, int, int]]) -> None:
    """The run times are walltimes then: clairvoyant starts are those of jobs that ask for what they need."""
    exact = [(submit, size, min(run, walltime), min(run, walltime)) for submit, size, run, walltime in specs]
    for name in ("easy", "conservative"):
        assert starts(schedule(name, {"predictor": "clairvoyant"}, workload(specs))) == starts(
            schedule(name, {}, workload(exact))
        )


def replies(name: str, options: Mapping[str, str], specs: list[tuple[int, int, int, int]]) -> list[bytes]:
    """Return all replies of a run."""
    found: list[bytes] = []
    schedule(name, options, workload(specs), lambda _session, _request, reply: found.append(reply))
    return found


def starts(records: list[JobRecord]) -> list[float]:
    return [record.start for record in records]


def sorted_specs(specs: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Return specs in the order of submission."""
    return sorted(specs, key=lambda spec: spec[0])


OWN = """from batsched_py.api import Predictor
class Ten(Predictor):
    def predict(self, job, user, now): return 10.0
    def learn(self, job, user, run_time, now): pass
class Broken(Ten):
    def predict(self, job, user, now): return float("nan")
class Half(Predictor):
    def predict(self, job, user, now): return 1.0
"""


def test_a_predictor_of_the_users_own_is_loaded_from_a_file(tmp_path: Path) -> None:
    """And from nowhere if a peer names it; its errors name the job."""
    path = tmp_path / "own.py"
    path.write_text(OWN)
    assert starts_of_ada({"predictor": f"{path}:Ten"})[1][0] == 30
    with pytest.raises(BatschedError, match=r"predictor .*Broken of w0!000: it raised ValueError: a prediction"):
        starts_of_ada({"predictor": f"{path}:Broken"})
    with pytest.raises(OptionError, match="must define predict and learn"):
        Session(load("easy"), {"predictor": f"{path}:Half"})
    with pytest.raises(OptionError, match="Path is not a class derived from Predictor"):
        Session(load("easy"), {"predictor": "pathlib:Path"})


@pytest.mark.parametrize(
    ("algorithm", "options", "rule"),
    [
        ("ar_preempt", {"predictor": "last2"}, "would run into a reservation"),
        ("energy_budget", {"predictor": "mean"}, "energy is paid in advance"),
        ("easy_dvfs", {"predictor": "mean", "power_cap": "900"}, "the cap counts"),
        ("easy", {"percentile": "50"}, "percentile is for predictor=percentile"),
        ("easy", {"correction": "request"}, "correction is for a predictor"),
        ("easy", {"predictions": "anew"}, "predictions is for a predictor"),
    ],
)
def test_options_that_contradict_are_refused(algorithm: str, options: dict[str, str], rule: str) -> None:
    """With the reason."""
    with pytest.raises(OptionError, match=rule):
        Session(load(algorithm), options)


def test_accuracy_is_measured_from_the_run_as_from_its_files(tmp_path: Path) -> None:
    """The file says what the run did; without a predictor there are no metrics."""
    files = [
        "-p",
        str(ROOT / "platforms/tiny4.xml"),
        "-w",
        str(ROOT / "workloads/first.json"),
        "-e",
        str(tmp_path / "r"),
    ]
    assert run_here(tmp_path, "simulate", *files, "-s", "easy", "-o", "predictor=mean") == 0
    measured = measure_run(read_schedule(tmp_path / "r"))
    assert measured.run_time_accuracy is not None
    assert run_here(tmp_path, "simulate", *files[:-1], str(tmp_path / "q"), "-s", "easy") == 0
    assert measure_run(read_schedule(tmp_path / "q")).run_time_accuracy is None
