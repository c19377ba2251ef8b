"""The energy budget against the simulator's meter: a cap is kept, no more is consumed than came in."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.plugins import load
from batsched_py.results.records import Result
from batsched_py.testing import Bench, Case, play
from batsched_py.testing.case import Peer
from batsched_py.testing.play import Player
from batsched_py.testing.rules import ContractTrial, Liberties, broken_rule
from tests.integration.energy_runs import SPECS, Spec, run, starts
from tests.integration.variants import SPECIAL, liberties

#: All hosts idle draw 480 W (4 x 100 and 2 x 40); work adds 100 W on a dear one and 40 W on a frugal one.
IDLE = 480.0
BUDGETS = [options for name, options in SPECIAL if name == "energy_budget" and {"power_cap", "energy"} & options.keys()]


def rows(result: Result) -> list[tuple[float, float]]:
    """(time, joules of all hosts until then) of the meter."""
    assert result.trace is not None
    assert result.trace.energy is not None
    energy = result.trace.energy
    return [(0.0, 0.0), *zip(energy.times, energy.joules, strict=True)]


@pytest.mark.parametrize("computing", [False, True], ids=["delays", "computing"])
@pytest.mark.parametrize("options", BUDGETS)
@given(SPECS)
@settings(max_examples=20)
def test_the_hosts_never_draw_more_than_the_cap_nor_consume_more_than_came_in(
    options: dict[str, str], computing: bool, specs: list[Spec]
) -> None:
    """By the meter of the simulator, between any two of its rows; and each job ends or was rejected with a reason."""
    result, talk = run("energy_budget", options, specs, computing=computing)
    assert len(result.jobs) == len(specs)
    cap = float(options.get("power_cap", "1e9"))
    measured = rows(result)
    for (before, consumed), (time, joules) in pairwise(measured):
        assert joules - consumed <= cap * (time - before) + 1e-6
        if "energy" in options and "shutdown" not in options:
            assert joules <= float(options["energy"]) / float(options["period"]) * time + 1e-6
    rejected = {record.job.id for record in result.jobs if record.state == "REJECTED"}
    assert rejected == set(talk.session.rejections)
    assert all("the cap is" in why or "the budget is" in why for why in talk.session.rejections.values())


@given(SPECS)
@settings(max_examples=30)
def test_without_a_budget_it_is_easy(specs: list[Spec]) -> None:
    """Promises on hosts; on hosts of one kind the same decisions. The user is told."""
    ours, _ = run("energy_budget", {}, specs)
    theirs, _ = run("easy", {"reserve": "hosts"}, specs)
    assert starts(ours) == pytest.approx(starts(theirs))


def test_a_job_waits_for_watts_and_a_smaller_one_overtakes_it() -> None:
    """480 W idle; the first adds 140 W of 250 W, the second would add 200 W, the third 40 W until the first ends."""
    specs = [(0, 3, 20, 20), (1, 4, 10, 10), (2, 1, 5, 5)]
    result, _ = run("energy_budget", {"power_cap": "760"}, specs)
    assert starts(result) == [0, 20, 2]


def test_a_job_waits_until_its_energy_has_come_in() -> None:
    """220 W above the idle hosts: 40 W for 20 s on a frugal one are 800 J, there after 800 / 220 s."""
    result, _ = run("energy_budget", {"energy": "70000", "period": "100"}, [(0, 1, 20, 20)])
    assert starts(result) == [pytest.approx(800 / 220)]


def test_what_a_job_did_not_use_comes_back() -> None:
    """It ends after 5 of 20 s: 600 J come back, and the second of the same kind needs only as much as it lacks."""
    result, _ = run("energy_budget", {"energy": "70000", "period": "100"}, [(0, 1, 5, 20), (1, 6, 10, 10)])
    first, second = starts(result)
    assert first == pytest.approx(800 / 220)
    assert second == pytest.approx((40 * 5 + 480 * 10) / 220)


@pytest.mark.parametrize(
    ("options", "spec", "why"),
    [
        ({"power_cap": "500"}, (0, 1, 5, 5), "may draw 520 W with what the other hosts draw, the cap is 500 W"),
        (
            {"energy": "40000", "period": "100"},
            (0, 1, 5, 5),
            "gets no energy: idle hosts draw 480 W, the budget is 400 W",
        ),
        (
            {"energy": "600", "period": "1"},
            (0, 1, 20, 20),
            "may consume 800 J more than idle hosts, the budget is 600 J",
        ),
    ],
)
def test_a_job_that_could_not_even_run_alone_is_rejected(options: dict[str, str], spec: Spec, why: str) -> None:
    """With the numbers."""
    result, talk = run("energy_budget", options, [spec])
    assert [record.state for record in result.jobs] == ["REJECTED"]
    assert list(talk.session.rejections.values()) == [why]


def test_idle_hosts_are_switched_off_to_make_room() -> None:
    """All six at work draw 960 W; the cap of 700 W admits a job of four dear... if the others sleep."""
    _, talk = run("energy_budget", {"power_cap": "640", "shutdown": "true"}, [(0, 3, 10, 10)])
    assert talk.said("SET_RESOURCE_STATE")
    assert talk.session.rejections == {}


def test_without_a_budget_the_user_is_told() -> None:
    """Once."""
    heard: list[str] = []
    bench = Bench("energy_budget", options={}, warn=heard.append)
    bench.submit(walltime=10)
    bench.decide()
    assert heard == ["t=0: neither power_cap nor energy is given: jobs are started as by easy"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"power_cap": "600", "reserve": "counts"}, "option reserve of energy_budget: must be hosts"),
        ({"power_cap": "600", "period": "60"}, "period is for the option energy"),
        ({"power_cap": "600", "idle_time": "0"}, "idle_time is for shutdown=true"),
    ],
)
def test_options_that_would_do_nothing_are_refused(options: dict[str, str], why: str) -> None:
    """In one line."""
    with pytest.raises(OptionError, match=why):
        Bench("energy_budget", options=options)


def test_slack_counts_for_hosts_and_watts_of_jobs_that_run() -> None:
    """Hosts and watts of a job of 100 s come back after 105 s by forecast; six idle hosts draw 600 W."""
    for cap, size in (("1200", 6), ("1000", 2)):
        bench = Bench("energy_budget", hosts=6, options={"power_cap": cap, "slack": "5"})
        bench.submit("first", size=4, walltime=100)
        bench.decide()
        blocked = bench.submit("second", size=size, walltime=100)
        assert bench.decide().promises[blocked] == 105


@pytest.mark.parametrize(
    ("options", "size", "why"),
    [
        ({"power_cap": "900"}, 2, "would add 200 W to 800 W, the cap is 900 W"),
        ({"power_cap": "900"}, 3, "would add 300 W to 800 W, the cap is 900 W"),
        ({"power_cap": "900", "energy": "700000", "period": "1000"}, 2, "would add 200 W to 800 W, the cap is 900 W"),
        ({"energy": "700000", "period": "1000"}, 2, "may consume 20000 J, the budget has 10000 J now"),
    ],
)
def test_a_job_that_waits_is_told_for_which_watts_or_joules(options: dict[str, str], size: int, why: str) -> None:
    """Two of six hosts are at work: 600 W idle and 200 W more; 100 W come in beyond idle, 300 s long."""
    bench = Bench("energy_budget", hosts=6, options=options)
    bench.at(300).submit(size=2, walltime=100)
    bench.decide()
    blocked = bench.submit(size=size, walltime=100)
    assert bench.decide().holds[blocked] == why


def test_a_job_that_lacks_hosts_says_so() -> None:
    """Neither watts nor joules."""
    bench = Bench("energy_budget", hosts=6, options={"power_cap": "1200"})
    bench.submit(size=4, walltime=100)
    blocked = bench.submit(size=3, walltime=100)
    assert "2" in bench.decide().holds[blocked]


#: The frugal hosts never come back: a job on two dear ones, beside two that are idle and all failed ones, draws 680 W.
LOST = Case(jobs=((0, 2, 1, 1),), outages=((0, "0-1", 1), (0, "2-5", None)), energy=True)


def test_who_finds_no_watts_because_hosts_are_lost_waits_with_the_reason_and_others_overtake_it() -> None:
    """Two frugal hosts would draw 560 W; nobody knows whether they will be back."""
    player = Player(load("energy_budget"), {"power_cap": "650"}, replace(LOST, jobs=(*LOST.jobs, (1, 1, 4, 5))))
    played = player.run()
    assert [ending.job.id for ending in played.endings] == ["w0!001"]
    assert "1 job waits for a decision (w0!000 of 2 hosts)" in played.deadlock
    waiting = player.session.waiting()
    assert len(waiting) == 1
    assert re.fullmatch(r"w0!000 \(2 hosts\) held at t=.*: would add 200 W to 480 W, the cap is 650 W", waiting[0])


@pytest.mark.parametrize("peer", ["simulator", "messages", "torn", "late"])
@pytest.mark.parametrize("options", BUDGETS)
def test_the_contract_knows_that_hosts_which_draw_little_may_be_lost(options: dict[str, str], peer: Peer) -> None:
    """Found by its search among cases."""
    played = play(load("energy_budget"), options, replace(LOST, peer=peer))
    liberty = Liberties(**liberties("energy_budget", options))
    assert broken_rule(ContractTrial(replace(LOST, peer=peer), played, load("energy_budget"), liberty)) == ""
