"""Recorded runs of the original Haizea, each made again with real messages: equal, or different for a reason."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.reader import read_config
from tests.clone import ROOT
from tests.haizea_cases import (
    NAMES,
    HaizeaCase,
    Outcome,
    as_line,
    other_outcomes,
    recorded_outcomes,
    simulated_outcomes,
)
from tests.unit.haizea.test_policies import OWN

CORRECTED, FIRST, SECOND = "result-req.json", "result.json", "result-1.1.json"
#: The outcome that is required of leases of which something else becomes than by the recordings.
REQUIRED = ROOT / "tests" / "data" / "haizea-required"

NEEDLESS: dict[str, Any] = {"drop_unneeded_victims": False}
NO_CPU: dict[str, Any] = {"hold_cpu": False}
DEADLINES: dict[str, Any] = {
    "deadline_rules": "original",
    "victim_order": "oldest",
    "drop_unneeded_victims": False,
    "shutdown_inside": False,
}


class Difference(NamedTuple):
    """Why a case has another outcome than by its recording, and what shows that this is why.

    Attributes:
        cause: sentence with the defect (D, in the README of the recordings) or the requirement (H).
        rules: with these settings of the original...
        equals: ...the outcome is that of this recording; "" if there is no setting for it.
        but: leases that are different even so.
    """

    cause: str
    rules: Mapping[str, Any] = MappingProxyType({})
    equals: str = ""
    but: int = 0


#: Case -> why it is different from `result-req.json`, or from `result.json` where there is no such file.
DIFFERENCES: dict[str, Difference] = {
    "ar-now-susp": Difference("D2: the victim's suspension was planned in the past and never came; it is requeued"),
    "dl-mix-be-preempt": Difference("D23: stopped with an error where a best-effort lease was planned"),
    "early-at-suspend": Difference("D7: an early end at a suspension was moved by one day", {}, SECOND),
    "host-bf-greedy": Difference("H34: a lease gave way whose host was not used after all", NEEDLESS, CORRECTED),
    "host-bf-no-policy": Difference("H34: a lease gave way whose host was not used after all", NEEDLESS, CORRECTED),
    "it-ar-slots": Difference("D11, D12: a reservation whose image comes late was accepted, and ended the run"),
    "it-requeue": Difference("D14: a requeued lease kept its transfer, which ended the run", {}, SECOND),
    "multi-inst": Difference("D21: hosts with two CPUs could not be read", {}, SECOND),
    "overhead-be": Difference("D18, H66: the request became what the run takes; both get longer, each by its own"),
    "overhead-mem": Difference("D18: the memory could not be overridden", {}, SECOND),
    "pre-global": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "pre-local": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "pre-overhead": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "pre-override-global": Difference("D5: suspended and resumed for ever without progress"),
    "pre-override-local": Difference("D4: seconds were taken for days", {}, SECOND),
    "pre-override-zero": Difference("D6: a suspension that takes no time made its lease fail"),
    "pre-packed-global": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "pre-rates": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "pre-shutdown": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "pre-shutdown-overhead": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "pre-useless": Difference("H34: needless victim", NEEDLESS, CORRECTED),
    "rnd-02": Difference("D17: machines that are suspended held no CPU", NO_CPU, CORRECTED),
    "rnd-05": Difference("H43: a migration is over before the resumption begins, and is done once"),
    "rnd-06": Difference("H34: needless victims", NEEDLESS, CORRECTED),
    "rnd-08": Difference("D17, D19: CPU while suspending; room in a cache before an image comes", {}, SECOND, 8),
    "rnd-11": Difference("D17: machines that are suspended held no CPU; D9 for one lease", NO_CPU, FIRST, 1),
    "rnd-12": Difference("H34: needless victims", NEEDLESS, CORRECTED),
    "rnd-16": Difference("D17: machines that are suspended held no CPU", NO_CPU, CORRECTED),
    "rnd-18": Difference("D10: a reservation within a planned suspension ended the run at 11159"),
    "rnd-dl-1": Difference("H56: 1.1 left a deadline lease alone that could give way", DEADLINES, FIRST, 11),
    "rnd-dl-3": Difference("a second order of deadline leases is tried before one is refused", DEADLINES, FIRST),
    "rounding-it": Difference("D12: a reservation whose image comes late was accepted and failed", {}, SECOND),
    "slots-many": Difference("D9: after a suspension machines were on hosts of others of their lease"),
    "too-big-be": Difference("D15: a lease that is larger than the site ended the run"),
    "too-big-be-off": Difference("D15: a lease that is larger than the site stood in the way of all others"),
    "two-early-same": Difference("H33: who is first in the queue lost its place", {"replan_after_each": True}, FIRST),
}


@pytest.fixture
def config(name: str, tmp_path: Path) -> HaizeaConfig:
    """The configuration of a case; beside it are the classes that it names."""
    folder = tmp_path / name
    shutil.copytree(HaizeaCase(name).folder, folder)
    (folder / "own_policies.py").write_text(OWN)
    return read_config(folder / "haizea.conf")


def with_rules(config: HaizeaConfig, rules: Mapping[str, Any]) -> HaizeaConfig:
    """The configuration with some of the original's rules."""
    return replace(config, settings=replace(config.settings, **rules))


def recording(case: HaizeaCase) -> Path:
    """Return the recording with which the outcome is compared."""
    corrected = case.folder / CORRECTED
    return corrected if corrected.exists() else case.folder / FIRST


def ended_before(outcomes: dict[int, Outcome], time: float) -> dict[int, list[tuple[float, float]]]:
    """Starts and ends of the runs that had ended before a time, by lease."""
    return {
        number: [(start, end) for start, end, _ in runs if end is not None and end < time]
        for number, (_, runs) in outcomes.items()
    }


def lines(outcomes: dict[int, Outcome]) -> list[str]:
    """Outcomes as text."""
    return [as_line(number, outcome) for number, outcome in sorted(outcomes.items())]


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_case_has_its_outcome(name: str, config: HaizeaConfig) -> None:
    """States, and starts, ends and hosts of all runs; where the original was mistaken, those that are required."""
    case = HaizeaCase(name)
    ours, recorded = simulated_outcomes(config), recorded_outcomes(recording(case))
    other = other_outcomes(ours, recorded or dict.fromkeys(ours, ("", [])))
    if name in DIFFERENCES:
        assert lines(other) == (REQUIRED / f"{name}.txt").read_text().splitlines()
    else:
        assert lines(other) == []


@pytest.mark.parametrize("name", [name for name, why in DIFFERENCES.items() if why.equals])
def test_a_difference_has_the_cause_that_is_named(name: str) -> None:
    """With the original's rule instead of ours the outcome is the recorded one."""
    case, why = HaizeaCase(name), DIFFERENCES[name]
    ours = simulated_outcomes(with_rules(case.config, why.rules))
    assert len(other_outcomes(ours, recorded_outcomes(case.folder / why.equals))) == why.but


def test_until_a_reservation_within_a_suspension_ended_the_run_all_is_the_same() -> None:
    """The recording of `rnd-18` stops half-way (D10): what had ended by then, ended so here."""
    case, stopped = HaizeaCase("rnd-18"), 11159
    ours, recorded = simulated_outcomes(case.config), recorded_outcomes(case.folder / CORRECTED)
    before = ended_before(recorded, stopped)
    assert sum(map(len, before.values())) > 30
    assert ended_before(ours, stopped) == before


def test_no_difference_is_told_that_is_none() -> None:
    """Each case that is told of exists, and has leases with another outcome."""
    assert set(DIFFERENCES) <= set(NAMES)
    assert {path.stem for path in REQUIRED.glob("*.txt")} == set(DIFFERENCES)
    assert all(path.read_text() for path in REQUIRED.glob("*.txt"))


def test_no_lease_is_lost_and_no_run_endless() -> None:
    """Every lease ends in a final state, also where the original was mistaken."""
    states = {line.split()[1] for path in REQUIRED.glob("*.txt") for line in path.read_text().splitlines()}
    assert states <= {"Done", "Rejected"}
