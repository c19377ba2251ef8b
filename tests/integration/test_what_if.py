"""A site that is played ahead: without a change as it goes on itself, and under changes."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from batsched_py.campaigns.run_limits import RunLimits
from batsched_py.leases.drains import DRAIN_HOSTS, UNDRAIN_HOSTS
from batsched_py.model.external_event import MACHINE_UNAVAILABLE
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.runs.choice import Choice
from batsched_py.session.option_values import Origin, read_values
from batsched_py.session.requests import SUBMIT_JOB
from batsched_py.site.inbox import Asked
from batsched_py.site.journal import JournalEntry
from batsched_py.site.pacing import PacedClock
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import SiteSettings
from batsched_py.site.what_if.api import (
    LeaseOutcome,
    PlannedChange,
    PlayedAhead,
    PlayFailure,
    SitePlan,
    play_ahead,
    play_apart,
)
from batsched_py.traces.simgrid_xml import read_platform
from tests.integration.test_site import PLATFORM, lease, rows, wait_for
from tests.thoroughness import thorough

#: Algorithms of sites, with options.
ALGORITHMS: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("leases", {}),
    ("leases", {"policy_preemption": "ar-preempts-everything", "backfilling": "conservative"}),
    ("experiments", {"policy_preemption": "ar-preempts-everything"}),
    ("fcfs", {}),
    ("filler", {"order": "sjf"}),
    ("priority", {"order": "sjf"}),
    ("easy", {}),
    ("easy", {"reserve": "hosts"}),
    ("conservative", {}),
    ("backfill", {"depth": "2"}),
    ("easy_plus_plus", {}),
    ("random", {}),
    ("placer", {}),
)
#: No change at all.
UNCHANGED: Final = PlannedChange()
#: Simulated seconds of a horizon that is long enough for all.
LONG: Final = 1e6


class StandingSite:
    """A site whose time a test moves.

    Attributes:
        site: the site.
    """

    def __init__(self, folder: Path, algorithm: str, options: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch):
        self._wall = 0.0
        monkeypatch.setattr("batsched_py.site.site.PacedClock", lambda pace: PacedClock(pace, lambda: self._wall))
        choice = Choice(algorithm, options)
        settings = SiteSettings(name="tiny4.xml", choice=choice, folder=folder)
        self.site = SimulatedSite(settings, read_platform(PLATFORM), PLATFORM.read_bytes(), Settings())
        #: The number of changes after which the simulation began to wait.
        self._rested = -1
        self._wait = self.site.inbox._rest
        monkeypatch.setattr(self.site.inbox, "_rest", self._rest)
        self.site.start()
        wait_for(lambda: self.site.inbox.ready)

    def go(self, time: float) -> None:
        """Let all happen up to a time."""
        self._wall = time
        self.site.inbox.control(lambda _, __: None)
        self.settle()

    def settle(self) -> None:
        """Wait until the simulation waits for time, or for requests."""
        wait_for(lambda: self._rested == self.site.inbox._changes, pause=0.001)

    def _rest(self, seconds: float, changes: int) -> None:
        self._rested = changes
        self._wait(seconds, changes)

    def ask(self, *asked: Asked) -> list[JournalEntry]:
        """Make requests now."""
        entries = self.site.inbox.accept(asked)
        self.settle()
        return entries

    def task(self, change: PlannedChange = UNCHANGED, horizon: float = LONG) -> Any:
        """Return the task to play the site ahead."""
        number, now = self.site.inbox.moment()
        return self.site.task(SitePlan(number, now, now + horizon, change))

    def played(self, change: PlannedChange = UNCHANGED, horizon: float = LONG) -> PlayedAhead:
        """Play the site ahead."""
        found = play_ahead(self.task(change, horizon))
        assert isinstance(found, PlayedAhead), found
        return found

    def request(self, asked: Asked) -> JournalEntry:
        """Return a request as one of a change."""
        number, now = self.site.inbox.moment()
        return JournalEntry(number + 1, -1, now, 0.0, asked.kind, None, "", "", asked.members(number + 1))

    def what_happened(self, number: int) -> tuple[float | None, float | None]:
        """Return when a lease or job really started and ended."""
        self.site.board.see()
        if (row := rows(self.site).get(number)) is not None:
            return row.start_time, row.end_time
        found = self.site.board.job(f"site!{number}")
        assert found is not None
        return found.start, found.end


@contextmanager
def standing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str = "leases", **options: Any
) -> Iterator[StandingSite]:
    """Open a site whose time stands."""
    found = StandingSite(folder, algorithm, options, monkeypatch)
    try:
        yield found
    finally:
        found.site.stop()


def job(size: int, walltime: float, duration: float | None = None) -> Asked:
    """Return a request for a job, which takes its whole walltime by default."""
    delay = walltime if duration is None else duration

    def members(number: int) -> Mapping[str, Any]:
        described = {"res": size, "walltime": walltime, "profile": f"p{number}"}
        return {"job_id": f"site!{number}", "job": described, "profile": {"type": "delay", "delay": delay}}

    return Asked(SUBMIT_JOB, members, "ann")


def starts(outcomes: PlayedAhead, pick: Callable[[Any], LeaseOutcome]) -> dict[int, float | None]:
    """Return the starts of leases by number."""
    return {one.number: pick(one).start for one in outcomes.leases}


@pytest.mark.parametrize(("algorithm", "options"), ALGORITHMS)
def test_without_a_change_a_play_says_what_the_site_then_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, options: Mapping[str, Any]
) -> None:
    """Starts and ends of all that waits or runs, also of jobs that end early, and after early ends in the past."""
    for seed in range(thorough(2)):
        draw = random.Random(seed)
        with standing(tmp_path / str(seed), monkeypatch, algorithm, **options) as site:
            time = 0.0
            for _ in range(9):
                time += draw.choice([0, 0, 7, 40, 130])
                site.go(time)
                walltime = draw.randint(10, 300)
                duration = draw.choice([walltime, walltime, draw.randint(5, walltime)])
                if algorithm in ("leases", "experiments") and draw.random() < 0.3:
                    site.ask(lease(draw.randint(1, 4), walltime, start=time + draw.randint(0, 200)))
                elif algorithm in ("leases", "experiments"):
                    site.ask(lease(draw.randint(1, 4), walltime, preemptible=draw.random() < 0.5))
                else:
                    site.ask(job(draw.randint(1, 4), walltime, duration))
            site.go(time + 3.5)
            found = site.played()
            assert found.leases
            site.go(time + LONG)
            for one in found.leases:
                assert (one.kept.start, one.kept.end) == site.what_happened(one.number), (seed, one)
                assert one.kept.final


def outcomes(futures: PlayedAhead) -> dict[int, tuple[float | None, float | None]]:
    """Return starts and ends under the change, by number."""
    return {one.number: (one.changed.start, one.changed.end) for one in futures.leases}


@pytest.mark.parametrize("kind", ["drain", "fail", "return", "reservation", "best effort"])
def test_under_a_change_a_play_says_what_the_site_does_if_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Hosts that are drained, fail or return, and a lease more; leases are suspended for a reservation."""
    with standing(tmp_path, monkeypatch, "leases", policy_preemption="ar-preempts-everything") as site:
        site.ask(lease(3, 300, preemptible=True), lease(2, 100), lease(1, 50))
        site.ask(_hosts(DRAIN_HOSTS, "3"))
        site.go(20)
        site.ask(lease(2, 80, start=500.0), lease(4, 40))
        site.go(70)
        asked = {
            "drain": _hosts(DRAIN_HOSTS, "0-1"),
            "fail": _hosts(MACHINE_UNAVAILABLE, "0"),
            "return": _hosts(UNDRAIN_HOSTS, "3"),
            "reservation": lease(2, 60, start=100.0),
            "best effort": lease(1, 60),
        }[kind]
        found = site.played(PlannedChange(requests=[site.request(asked)]))
        (entry,) = site.ask(asked)
        site.go(LONG)
        assert outcomes(found) == {number: site.what_happened(number) for number in outcomes(found)}
        assert any(one.kept != one.changed for one in found.leases) or kind == "best effort"
        if asked.kind == SUBMIT_JOB:
            assert found.added is not None
            assert (found.added.start, found.added.end) == site.what_happened(entry.number)
        else:
            assert found.added is None


def _hosts(kind: str, hosts: str) -> Asked:
    return Asked(kind, lambda _: {"resources": hosts})


def change(algorithm: str | None, present: str, **options: Any) -> PlannedChange:
    """Return the change to an algorithm, or to options of the present one."""
    kind = load(algorithm or present)
    values = read_values(kind.options_type, options, kind.name, Origin.PEER)
    return PlannedChange(None if algorithm in (None, present) else kind, values)


def test_another_algorithm_goes_on_from_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed by hand: running jobs stay, and waiting ones are served by the rules of the other one."""
    with standing(tmp_path, monkeypatch, "fcfs") as site:
        #           runs until 100   waits for it  fits beside, until 100 or longer
        site.ask(job(3, 100), job(4, 50), job(1, 200), job(1, 60))
        site.go(10)
        now = starts(site.played(), lambda one: one.kept)
        assert now == {1: 0, 2: 100, 3: 150, 4: 150}
        futures = {name: starts(site.played(change(name, "fcfs")), lambda one: one.changed) for name in REHEARSED}
        assert futures == {
            "easy": {1: 0, 2: 100, 3: 150, 4: 10},
            "conservative": {1: 0, 2: 100, 3: 150, 4: 10},
            "filler": {1: 0, 2: 210, 3: 10, 4: 100},
            "priority": {1: 0, 2: 100, 3: 150, 4: 150},
            "fcfs": now,
        }
        shortest = site.played(change("priority", "fcfs", order="sjf"))
        assert starts(shortest, lambda one: one.changed) == {1: 0, 2: 100, 3: 150, 4: 150}
        shortest = site.played(change("filler", "fcfs", order="sjf"))
        assert starts(shortest, lambda one: one.changed) == {1: 0, 2: 270, 3: 70, 4: 10}


REHEARSED: Final = ("easy", "conservative", "filler", "priority", "fcfs")


@pytest.mark.parametrize("former", [*REHEARSED, "leases", "experiments"])
@pytest.mark.parametrize("successor", REHEARSED)
def test_a_successor_serves_all_jobs_and_moves_none_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, former: str, successor: str
) -> None:
    """The algorithm before does not matter; the referee of the simulation refuses hosts that are taken."""
    draw = random.Random(1)
    with standing(tmp_path, monkeypatch, former) as site:
        asked = lease if former in ("leases", "experiments") else job
        site.ask(*(asked(draw.randint(1, 4), draw.randint(10, 100)) for _ in range(12)))
        site.go(35)
        found = site.played(change(successor, former))
        assert {one.changed.final for one in found.leases} == {True}
        for one in found.leases:
            started = one.now.start is not None
            assert one.changed.start is not None
            assert (one.changed == one.kept or former in ("leases", "experiments")) if started else True
            assert (one.changed.start == one.now.start) if started else one.changed.start >= 35


def test_options_of_leases_change_from_now_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue, planned starts and suspended leases stay; options that are as they are change nothing."""
    with standing(tmp_path, monkeypatch, "leases", policy_preemption="ar-preempts-everything") as site:
        site.ask(lease(4, 300, preemptible=True), lease(3, 50, start=100.0), lease(3, 100), lease(4, 30), lease(1, 500))
        site.go(110)
        same = site.played(change(None, "leases", backfilling="aggressive", policy_preemption="ar-preempts-everything"))
        assert [one.kept for one in same.leases] == [one.changed for one in same.leases]
        assert any(one.now.state.startswith("Suspended") for one in same.leases)
        request = site.request(lease(4, 10, start=1000.0, preemptible=False))
        allowed = site.played(PlannedChange(requests=[request]))
        refused = site.played(replace(change(None, "leases", policy_admission="no-ARs"), requests=[request]))
        assert (allowed.added or refused.added) is not None
        assert [one.added and one.added.state for one in (allowed, refused)] == ["Done", "Rejected"]


def test_backfilling_is_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed by hand: a small lease does not overtake those before it any more; what is planned stays."""
    with standing(tmp_path, monkeypatch, "leases") as site:
        site.ask(lease(3, 100), lease(4, 50), lease(4, 50))
        site.go(10)
        small = site.request(lease(1, 60))
        for options, start in (({}, 10), ({"backfilling": "off"}, 200), ({"backfilling": "conservative"}, 10)):
            found = site.played(replace(change(None, "leases", **options), requests=[small]))
            assert found.added is not None
            assert (found.added.start, found.added.end) == (start, start + 60)
            assert starts(found, lambda one: one.changed) == {1: 0, 2: 100, 3: 150}


@pytest.mark.parametrize(
    ("former", "made", "why"),
    [
        ("leases", {"algorithm": "easy"}, "easy cannot take over from leases: lease 2 has terms or plans that only"),
        ("leases", {"algorithm": "placer"}, "placer cannot take over from leases: it would begin with no knowledge"),
        ("leases", {"probes": "none"}, ""),
        ("leases", {"suspend_rate": 64}, "option suspend_rate of leases cannot change while leases wait and run"),
        ("experiments", {"ip_timeout": 3}, "option ip_timeout of experiments cannot change while leases wait"),
        ("random", {"algorithm": "easy"}, "easy cannot take over from random: random has plans that no other"),
        ("random", {"seed": 7}, "options of random cannot change during a run"),
    ],
)
def test_what_cannot_change_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, former: str, made: dict[str, Any], why: str
) -> None:
    """With the reason; the site can be played under other changes."""
    with standing(tmp_path, monkeypatch, former) as site:
        site.ask(lease(1, 10), lease(1, 10, start=50.0))
        found = play_ahead(site.task(change(made.pop("algorithm", None), former, **made)))
        if why:
            assert found == PlayFailure(refused=True, text=found.text if isinstance(found, PlayFailure) else "")
            assert isinstance(found, PlayFailure)
            assert found.text.startswith(why)
        else:
            assert isinstance(found, PlayedAhead)


def test_what_comes_after_the_horizon_is_not_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a play take endlessly many messages."""
    with standing(tmp_path, monkeypatch, "fcfs") as site:
        site.ask(job(4, 100), job(4, 100), job(4, 100))
        site.go(10)
        found = site.played(horizon=120)
        assert [(one.kept.start, one.kept.end) for one in found.leases] == [(0, 100), (100, None), (None, None)]
        assert [one.kept.state for one in found.leases][1:] == ["running", "waiting"]
        monkeypatch.setattr("batsched_py.site.what_if.play.MOST_MESSAGES", 1)
        failed = play_ahead(site.task())
        assert failed == PlayFailure(refused=False, text="more than 1 messages are needed: choose a shorter horizon")


def test_the_site_is_as_if_nobody_had_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files have the same bytes before and after, and it decides as a twin that is not played."""
    kept = list[bytes]()
    for name, plays in (("played", True), ("twin", False)):
        with standing(tmp_path / name, monkeypatch, "leases") as site:
            for size in (3, 2, 4, 1):
                site.ask(lease(size, 100))
                site.go(site.site.inbox.now + 10)
                before = content(tmp_path / name)
                if plays:
                    request = site.request(lease(4, 50, start=400.0))
                    site.played(replace(change(None, "leases", backfilling="off"), requests=[request]))
                    site.played(change("easy", "leases"))
                assert content(tmp_path / name) == before
            site.go(LONG)
        kept.append(content(tmp_path / name)[0])
    assert kept[0] == kept[1]


def content(folder: Path) -> tuple[bytes, list[Any]]:
    """Return the transcript of a site, and the rows of its journal but for dates."""
    with closing(sqlite3.connect(folder / "site.sqlite")) as database:
        rows = database.execute("SELECT number, batch, time, kind, user, members FROM requests").fetchall()
    return (folder / "transcript.jsonl").read_bytes(), rows


def test_a_past_that_cannot_be_repeated_is_not_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another decision than that in the transcript, as after a change of the algorithm's file."""
    with standing(tmp_path, monkeypatch, "fcfs") as site:
        site.ask(job(2, 100), job(4, 100))
        site.go(10)
        task = site.task()
        other = tmp_path / "other.jsonl"
        other.write_bytes(task.setup.transcript.read_bytes().replace(b'"alloc":"0-1"', b'"alloc":"2-3"'))
        assert other.read_bytes() != task.setup.transcript.read_bytes()
        found = play_ahead(replace(task, setup=replace(task.setup, transcript=other)))
        assert isinstance(found, PlayFailure)
        assert (found.refused, found.text.split(":")[0]) == (False, "the past of the site cannot be repeated")


def test_a_process_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A play in a process of its own has the same result; one that takes too long is ended."""
    with standing(tmp_path, monkeypatch, "easy") as site:
        site.ask(job(3, 100), job(4, 100))
        task = site.task(change("filler", "easy"))
        assert play_apart(task) == play_ahead(task)
        late = play_apart(task, RunLimits(timeout=1e-3))
        assert late == PlayFailure(
            refused=False, text="takes longer than 0.001 s, of which a part is to repeat the past"
        )
