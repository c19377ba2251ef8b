"""Holds, releases and priorities of leases: by events, at a site, and after a restart."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.cli.main import run
from tests.clone import ROOT
from tests.integration.test_requests import cancellation, submission
from tests.thoroughness import thorough

TINY: Final = ROOT / "platforms" / "tiny4.xml"
Times = Mapping[str, tuple[str, float, float]]


def lease(time: float, number: int, size: int, seconds: int, **terms: Any) -> dict[str, Any]:
    """Return the event that requests a lease."""
    return submission(time, f"s!{number}", size, seconds, walltime=seconds, lease=terms)


def change(time: float, kind: str, number: int, **more: Any) -> dict[str, Any]:
    """Return the event that holds, releases or prioritises a lease."""
    return {"timestamp": time, "type": f"{kind}_job", "job_id": f"s!{number}", **more}


def simulate(folder: Path, events: Sequence[Mapping[str, Any]], *options: str, algorithm: str = "leases") -> Times:
    """Return state, start and end of each job by its name, of a run whose recording replays byte for byte."""
    (folder / "w.json").write_text('{"nb_res": 4, "jobs": [], "profiles": {}}')
    (folder / "e.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    command = ["simulate", "-p", str(TINY), "-w", str(folder / "w.json"), "-s", algorithm, *options, "--quiet"]
    command += ["--events", str(folder / "e.jsonl"), "--requests", "-e", str(folder / "run")]
    assert run([*command, "--record", str(folder / "r.jsonl")]) == 0
    assert run(["replay", str(folder / "r.jsonl")]) == 0
    with (folder / "run_jobs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["job_id"]: (row["final_state"], _time(row["starting_time"]), _time(row["finish_time"])) for row in rows}


def _time(text: str) -> float:
    return round(float(text), 3) if text else -1.0


def starts(times: Times) -> dict[str, float]:
    """Return the starts of jobs."""
    return {name: start for name, (_, start, _) in times.items()}


FOUR: Final = [lease(number - 1, number, 4, 100) for number in (1, 2, 3, 4)]


def test_a_held_lease_lets_others_pass_and_keeps_its_rank(tmp_path: Path) -> None:
    """The second of four leases that follow each other is held until 250: the third has its place.

    When it is released earlier, the planned start of the fourth stays; the fifth has none yet.
    """
    events = [*FOUR, change(10, "hold", 2), change(250, "release", 2)]
    assert starts(simulate(tmp_path, events)) == {"1": 0, "3": 100, "4": 200, "2": 300}
    events = [*FOUR, lease(4, 5, 4, 100), change(10, "hold", 2), change(150, "release", 2)]
    assert starts(simulate(tmp_path, events)) == {"1": 0, "3": 100, "4": 200, "2": 300, "5": 400}


@pytest.mark.parametrize("backfilling", ["off", "aggressive", "conservative"])
def test_a_priority_changes_the_order_of_the_queue(tmp_path: Path, backfilling: str) -> None:
    """Planned starts of the leases that are overtaken are planned again."""
    events = [*FOUR, change(10, "prioritise", 4, priority=5), change(110, "prioritise", 2, priority=-1)]
    found = starts(simulate(tmp_path, events, "-o", f"backfilling={backfilling}"))
    assert found == {"1": 0, "4": 100, "3": 200, "2": 300}


def test_the_place_of_a_held_reservation_is_given_back(tmp_path: Path) -> None:
    """A lease that has no room before it starts at once; after its release, it is planned again or rejected."""
    reserved, long = lease(1, 2, 4, 100, start=50), lease(2, 3, 4, 200)
    events = [lease(0, 1, 1, 10), reserved, long]
    assert starts(simulate(tmp_path, events)) == {"1": 0, "2": 50, "3": 150}
    held = change(20, "hold", 2)
    assert starts(simulate(tmp_path, [*events, held])) == {"1": 0, "2": -1, "3": 20}  # nobody can release it
    assert starts(simulate(tmp_path, [*events, held, cancellation(30, "s!3"), change(40, "release", 2)]))["2"] == 50
    late = simulate(tmp_path, [*events, held, change(60, "release", 2), lease(400, 4, 1, 1)])
    assert late["2"][0] == "REJECTED"


def test_a_held_lease_with_a_deadline_is_planned_again_or_refused(tmp_path: Path) -> None:
    """By its deadline."""
    events = [lease(0, 1, 4, 10), lease(1, 2, 4, 50, start=20, deadline=200), change(5, "hold", 2)]
    assert starts(simulate(tmp_path, [*events, change(90, "release", 2)]))["2"] == 90
    assert simulate(tmp_path, [*events, change(151, "release", 2)])["2"][0] == "REJECTED"


def test_a_suspended_lease_is_held_and_resumes_after_its_release(tmp_path: Path) -> None:
    """It has run 40 s before a reservation of 20 s, and is released 40 s after the end of that."""
    events = [lease(0, 1, 4, 100, preemptible=True), lease(1, 2, 4, 20, start=40), change(50, "hold", 1)]
    rules = ["-o", "policy_preemption=ar-preempts-everything", "-o", "override_suspend_time=0"]
    rules += ["-o", "override_resume_time=0", "-o", "scheduling_threshold_factor=0"]
    found = simulate(tmp_path, [*events, change(100, "release", 1)], *rules)
    assert [found["1"][1:], found["2"][1:], found["1#1"][1:]] == [(0, 40), (40, 60), (100, 160)]


def test_a_transfer_for_a_held_lease_ends(tmp_path: Path) -> None:
    """The next lease is prepared at once, the held one after its release."""
    image = {"image": "disk", "size": 125}
    events = [lease(0, 1, 4, 100, software=image), lease(0, 2, 4, 100, software={**image, "image": "other"})]
    events += [change(5, "hold", 1), change(20, "release", 1)]
    found = starts(simulate(tmp_path, events, "-o", "lease_preparation=imagetransfer"))
    assert found["2"] < found["1"]


def test_requests_may_come_with_the_lease_itself(tmp_path: Path) -> None:
    """A lease that is held in the message of its request never gets a place; its release may come there, too."""
    events = [lease(0, 1, 4, 10), change(0, "hold", 1), lease(0, 2, 4, 10), change(0, "prioritise", 2, priority=1)]
    events += [lease(0, 3, 4, 10), change(0, "hold", 3), change(0, "release", 3), change(15, "release", 1)]
    for answers in ("--acknowledge-dynamic-jobs", "--no-acknowledge-dynamic-jobs"):
        assert starts(simulate(tmp_path, events, answers)) == {"2": 0, "3": 10, "1": 20}, answers


def test_what_is_wrong_with_a_change_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the rule; the run goes on."""
    wrong = [
        change(10, "hold", 1),
        change(11, "hold", 9),
        change(12, "release", 2),
        change(13, "hold", 2, by="root"),
        {"timestamp": 14, "type": "hold_job", "job_id": ["\x1b[31m"]},
        change(15, "prioritise", 2),
        change(16, "prioritise", 2, priority=True),
        change(17, "prioritise", 2, priority=10**9),
        change(18, "prioritise", 2, priority=1, by="user"),
        change(19, "prioritise", 3, priority=1),
        change(20, "hold", 2),
        change(21, "hold", 2, by="user"),
        change(22, "release", 2, by="user"),
        change(23, "release", 2),
        change(500, "hold", 1),
        change(501, "hold", 4),
    ]
    events = [*FOUR[:2], lease(2, 3, 1, 10, start=400), *wrong, lease(501, 4, 1, 1, start="now")]
    assert starts(simulate(tmp_path, events))["2"] == 100
    told = capsys.readouterr().err
    assert "\x1b" not in told
    for line in [
        "t=10: hold_job s!1: it has begun (Active): only waiting leases can be held; it is ignored",
        "t=11: hold_job 's!9': no job of this id was submitted",
        "t=12: release_job s!2: it is not held; it is ignored",
        "t=13: hold_job 's!2': by: must be user or operator, not 'root'; it is ignored",
        "t=14: hold_job ['\\x1b[31m']: job_id: must be a text",
        "t=15: prioritise_job 's!2': priority: is missing; it is ignored",
        "t=16: prioritise_job 's!2': priority: must be a whole number from -10000 to 10000, not True",
        "t=17: prioritise_job 's!2': priority: must be a whole number from -10000 to 10000, not 1000000000",
        "t=18: prioritise_job s!2: only an operator may raise its priority, which is 0; it is ignored",
        "t=19: prioritise_job s!3: only best-effort leases have a priority: others have their time; it is ignored",
        "t=21: hold_job s!2: it is held already; it is ignored",
        "t=22: release_job s!2: an operator holds it, and only an operator may release it; it is ignored",
        "t=500: hold_job s!1: it has ended; it is ignored",
        "t=501: hold_job 's!4': no job of this id was submitted",
    ]:
        assert line in told, (line, told)


def test_other_algorithms_refuse_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, and all starts are as without them."""
    events = [lease(0, 1, 4, 100), lease(1, 2, 4, 100), change(10, "hold", 2)]
    assert starts(simulate(tmp_path, events, algorithm="fcfs")) == {"1": 0, "2": 100}
    assert "t=10: hold_job 's!2': fcfs cannot hold, release or prioritise jobs" in capsys.readouterr().err


#: (request, size, duration, seconds until its start or None), and (time, kind, lease, priority).
LEASES: Final = st.lists(
    st.tuples(
        st.integers(0, 60), st.integers(1, 4), st.integers(1, 40), st.sampled_from((None, None, None, 0, 20, 80))
    ),
    min_size=1,
    max_size=8,
)
CHANGES: Final = st.lists(
    st.tuples(
        st.integers(0, 120),
        st.sampled_from(("hold", "hold", "release", "prioritise")),
        st.integers(1, 8),
        st.integers(-2, 2),
    ),
    max_size=12,
)


@settings(max_examples=thorough(25), deadline=None)
@given(LEASES, CHANGES, st.sampled_from(("aggressive", "conservative")))
def test_no_lease_starts_while_it_is_held(
    tmp_path_factory: pytest.TempPathFactory, asked: list[Any], changes: list[Any], backfilling: str
) -> None:
    """Each lease ends, hosts are never shared, and whatever begins was released before."""
    folder = tmp_path_factory.mktemp("run")
    events = []
    for number, (at, size, length, ahead) in enumerate(asked, 1):
        terms = {"preemptible": True} if ahead is None else {"start": at + ahead}
        events.append(lease(at, number, size, length, **terms))
    events += [
        change(at + 0.5, kind, number, **({"priority": value} if kind == "prioritise" else {}))
        for at, kind, number, value in changes
    ]
    events.sort(key=lambda one: float(one["timestamp"]))
    last = events[-1]["timestamp"] + 1
    events += [change(last, "release", number) for number in range(1, len(asked) + 1)]
    options = ("-o", f"backfilling={backfilling}", "-o", "policy_preemption=ar-preempts-everything")
    found = simulate(folder, events, *options)
    assert {name.partition("#")[0] for name in found} == {str(number) for number in range(1, len(asked) + 1)}
    for number in range(1, len(asked) + 1):
        begun = [start for name, (_, start, _) in found.items() if name.partition("#")[0] == str(number)]
        held_since: float | None = None
        for event in events:
            if event.get("job_id") != f"s!{number}":
                continue
            time = float(event["timestamp"])
            runs = any(start <= time < end for name, (_, start, end) in found.items() if name.startswith(str(number)))
            if event["type"] == "hold_job" and time > asked[number - 1][0] and not runs and held_since is None:
                held_since = time
            elif event["type"] == "release_job" and held_since is not None:
                assert not any(held_since < start < time for start in begun)
                held_since = None
