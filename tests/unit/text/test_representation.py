"""Representations stay short, however much a thing holds."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from rich.pretty import pretty_repr

from batsched_py.campaigns import Drawn, Variant, compare_algorithms, find_metrics, run_study, simulate
from batsched_py.hostset import HostSet
from batsched_py.reporting.api import schedule_of
from batsched_py.text.representation import Brief
from batsched_py.traces.lublin import generate
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.traces.swf import read_swf
from tests.clone import ROOT
from tests.platforms import plain_platform

LINE = "{} 10 -1 97 4 -1 -1 4 120 -1 1 7 3 -1 -1 -1 -1 -1\n"


class Pair(Brief, frozen=True):
    few: tuple[int, ...]
    many: dict[int, int]
    text: str = ""


def test_collections_are_told_by_their_sizes() -> None:
    """Small ones as they are; the rest is that of any struct."""
    assert repr(Pair((1, 2), {0: 1})) == "Pair(few=(1, 2), many={0: 1}, text='')"
    assert repr(Pair(tuple(range(9)), dict.fromkeys(range(1000), 0))) == (
        "Pair(few=<tuple of 9>, many=<dict of 1000>, text='')"
    )
    assert len(repr(Pair((), {}, "x" * 10**6))) < 300
    assert "".join(pretty_repr(Pair((), dict.fromkeys(range(9), 0))).split()) == "Pair(few=(),many=<dictof9>,text='')"


def test_what_a_notebook_shows_of_runs_is_short(tmp_path: Path) -> None:
    """A thousand jobs on as many hosts, in fewer characters than a page has."""
    machine, workload = plain_platform(500), generate(1000, 500, Random(1))
    run = simulate(machine, workload, "fcfs", trace=True)
    study = run_study(machine, {f"w{seed}": Drawn(9, 4, seed) for seed in range(9)}, [Variant("a", "fcfs")])
    comparison = compare_algorithms(study, find_metrics(["mean_wait"]))
    (tmp_path / "log.swf").write_text("".join(LINE.format(number) for number in range(1000)))
    shown: list[object] = [run, run.result, run.result.trace, machine, workload, study, study.outcomes[0], comparison]
    shown += [schedule_of(run.result, "run"), read_swf(tmp_path / "log.swf"), workload.jobs[0]]
    shown += [read_platform(ROOT / "platforms" / "cluster32.xml"), *list(workload.profiles.values())[:1]]
    for thing in shown:
        assert 10 < len(repr(thing)) < 4000, type(thing)


@pytest.mark.parametrize("step", [2, 3])
def test_a_set_of_many_pieces_is_short(step: int) -> None:
    """Whole ones read back; this one tells how many hosts it has."""
    hosts = HostSet.from_ids(range(0, 80_000, step))
    assert len(repr(hosts)) < 1100
    assert repr(hosts).startswith(f"<HostSet of {len(hosts)}: 0 {step} ")
