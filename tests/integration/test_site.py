"""A live site without its doors: requests, restarts, its transcript."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from batsched_py.cli.main import run
from batsched_py.errors import SiteError
from batsched_py.leases.accounting.rows import LiveRow
from batsched_py.model.settings import Settings
from batsched_py.results.lease_rows import LeaseRow
from batsched_py.runs.choice import Choice
from batsched_py.site.inbox import Asked
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import JOURNAL, TRANSCRIPT, Site, SiteSettings
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT

PLATFORM = ROOT / "platforms" / "tiny4.xml"
#: Seconds of the wall clock that a test waits for something at most.
PATIENCE = 60.0


def settings(folder: Path, pace: float = math.inf, **changes: Any) -> SiteSettings:
    """Return the settings of a site of `leases` on four hosts."""
    algorithm = changes.get("algorithm", "leases")
    options = {"policy_preemption": "ar-preempts-everything", **changes.pop("options", {})}
    choice = Choice(algorithm, options if algorithm == "leases" else {})
    return SiteSettings(name="tiny4.xml", choice=choice, folder=folder, pace=pace)


def make(folder: Path, pace: float = math.inf, **changes: Any) -> Site:
    """Return a site that was not started."""
    simulation = changes.pop("simulation", Settings())
    return SimulatedSite(settings(folder, pace, **changes), read_platform(PLATFORM), PLATFORM.read_bytes(), simulation)


@contextmanager
def opened(folder: Path, pace: float = math.inf, **changes: Any) -> Iterator[Site]:
    """Open a site, wait until it is ready, and stop it."""
    site = make(folder, pace, **changes)
    site.start()
    try:
        wait_for(lambda: site.inbox.ready or not site.alive)
        yield site
    finally:
        site.stop()


def wait_for(condition: Callable[[], Any], pause: float = 0.005) -> None:
    """Wait until a condition is true; it is tried again after `pause` seconds."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(pause)


def lease(size: int, seconds: float, **terms: Any) -> Asked:
    """Return a request for a lease."""

    def members(number: int) -> Mapping[str, Any]:
        job = {"res": size, "walltime": seconds, "profile": f"p{number}", "lease": terms}
        return {"job_id": f"site!{number}", "job": job, "profile": {"type": "delay", "delay": seconds}}

    return Asked("submit_job", members, "ann")


def rows(site: Site) -> dict[int, LeaseRow]:
    """Return the rows of leases by their numbers."""
    found = site.board.snapshot.tables
    tables = [found[name] for name in ("leases", "ended_leases") if name in found]
    return {row.lease: row for table in tables for row in cast(Iterable[LeaseRow], table.rows)}


def states(site: Site) -> dict[int, str]:
    """Return the states of leases by their numbers."""
    return {number: row.state for number, row in rows(site).items()}


def test_requests_happen_when_they_come(tmp_path: Path) -> None:
    """As fast as it can: each is done before the next is asked for."""
    with opened(tmp_path) as site:
        (first,) = site.inbox.accept([lease(4, 100)])
        wait_for(lambda: states(site) == {1: "Done"})
        (second,) = site.inbox.accept([lease(2, 50)])
        wait_for(lambda: states(site) == {1: "Done", 2: "Done"})
        assert (first.number, first.time, second.number, second.time) == (1, 0.0, 2, 100.0)
        assert [(row.start_time, row.end_time) for row in rows(site).values()] == [(0, 100), (100, 150)]
        wait_for(lambda: [job.id for job in site.board.ended] == ["site!1", "site!2"])
        assert site.inbox.now == 150
    assert run(["replay", str(tmp_path / TRANSCRIPT)]) == 0


def test_a_paced_site_lets_time_pass(tmp_path: Path) -> None:
    """A lease of 1000 s at pace 10 000 ends after a tenth of a second, not before; a pause holds it."""
    with opened(tmp_path, 10_000.0) as site:
        site.inbox.control(lambda clock, reached: clock.pause(reached))
        begun = time.monotonic()
        (entry,) = site.inbox.accept([lease(4, 1000)])
        wait_for(lambda: states(site) == {1: "Active"})
        assert site.inbox.now == pytest.approx(entry.time)
        site.inbox.control(lambda clock, reached: clock.start(reached))
        wait_for(lambda: states(site) == {1: "Done"})
        assert time.monotonic() - begun >= 0.1
        assert rows(site)[1].end_time == pytest.approx(entry.time + 1000)


def test_a_reservation_is_seen_before_it_begins(tmp_path: Path) -> None:
    """A best-effort lease is suspended for it, by plan."""
    with opened(tmp_path, 1.0) as site:
        site.inbox.accept([lease(4, 1000), lease(4, 100, start=500)])
        wait_for(lambda: states(site) == {1: "Active", 2: "Ready"})
        reservations = cast(Iterable[LiveRow], site.board.snapshot.tables["reservations"].rows)
        planned = [(row.kind, row.phase, row.start, row.hosts) for row in reservations if row.lease == 2]
        assert planned[0] == ("vm", "planned", 500, "0-3")


def test_a_site_goes_on_where_it_was_left(tmp_path: Path) -> None:
    """With the same leases, queue and clock; time that passed meanwhile does not count."""
    with opened(tmp_path, 100.0) as site:
        site.inbox.accept([lease(4, 5000), lease(3, 100), lease(2, 200)])
        site.inbox.accept([lease(2, 100, start=9000)])
        wait_for(lambda: states(site).get(4) == "Ready")
        before, clock = rows(site), site.inbox.now
        waiting = [job.id for job in site.board.snapshot.waiting]
    transcript = (tmp_path / TRANSCRIPT).read_bytes()
    with opened(tmp_path, 100.0) as site:
        wait_for(lambda: states(site).get(4) == "Ready")
        assert {number: (row.state, row.start_time) for number, row in rows(site).items()} == {
            number: (row.state, row.start_time) for number, row in before.items()
        }
        assert [job.id for job in site.board.snapshot.waiting] == waiting
        assert site.inbox.now >= clock
        assert site.inbox.accept([lease(1, 5)])[0].number == 5
    assert (tmp_path / TRANSCRIPT).read_bytes().startswith(transcript)
    assert run(["replay", str(tmp_path / TRANSCRIPT)]) == 0


#: A process that opens a site in a folder, takes requests from its input, and tells their numbers when it has them.
PROCESS = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.integration.test_site import lease, opened
from pathlib import Path
with opened(Path(sys.argv[1]), 1000.0) as site:
    for line in sys.stdin:
        size, seconds = line.split()
        print(site.inbox.accept([lease(int(size), float(seconds))])[0].number, flush=True)
"""


def test_nothing_accepted_is_lost_when_it_is_killed(tmp_path: Path) -> None:
    """Kill -9 after each third request: all numbers are there, in order, and the transcript is one run."""
    accepted = 0
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for size in (1, 2, 3):
            process.stdin.write(f"{size} {400 * size}\n")
            process.stdin.flush()
            accepted += 1
            assert int(process.stdout.readline()) == accepted
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
    with opened(tmp_path) as site:
        wait_for(lambda: states(site) == dict.fromkeys(range(1, accepted + 1), "Done"))
    assert run(["replay", str(tmp_path / TRANSCRIPT)]) == 0


def test_two_processes_do_not_decide_for_one_site(tmp_path: Path) -> None:
    """The second is told."""
    with opened(tmp_path), pytest.raises(SiteError, match="another process has it open"):
        make(tmp_path)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"options": {"suspension": "none"}}, "options"),
        ({"algorithm": "easy"}, "algorithm"),
        ({"simulation": Settings(machines=2)}, "settings"),
    ],
)
def test_a_site_stays_what_it_is(tmp_path: Path, changes: Any, what: str) -> None:
    """Other options would decide otherwise, and the past would be another."""
    with opened(tmp_path):
        pass
    with pytest.raises(SiteError, match=f"was started with another {what}"):
        make(tmp_path, **changes)


def test_decisions_that_have_changed_are_noticed(tmp_path: Path) -> None:
    """The past is compared with its transcript before anything new happens."""
    with opened(tmp_path) as site:
        site.inbox.accept([lease(4, 100)])
        wait_for(lambda: states(site) == {1: "Done"})
    path = tmp_path / TRANSCRIPT
    path.write_bytes(path.read_bytes().replace(b'"alloc":"0-3"', b'"alloc":"3-0"'))
    site = make(tmp_path)
    site.start()
    wait_for(lambda: not site.alive)
    site.stop()
    assert isinstance(site.failure, SiteError)
    assert "exchange 2 differs from the decision made now" in str(site.failure)
    with pytest.raises(SiteError, match="the site cannot keep requests: its log says why"):
        site.inbox.accept([lease(1, 1)])


def test_a_last_exchange_that_was_written_in_part_is_written_again(tmp_path: Path) -> None:
    """As after a failure of the machine."""
    with opened(tmp_path) as site:
        site.inbox.accept([lease(4, 100)])
        wait_for(lambda: states(site) == {1: "Done"})
    path, whole = tmp_path / TRANSCRIPT, (tmp_path / TRANSCRIPT).read_bytes()
    path.write_bytes(whole[:-50])
    with opened(tmp_path) as site:
        wait_for(lambda: states(site) == {1: "Done"})
    assert path.read_bytes() == whole


def test_the_journal_alone_is_enough(tmp_path: Path) -> None:
    """A backup of it becomes the same site, which decides the past again and writes the same transcript."""
    with opened(tmp_path) as site:
        site.inbox.accept([lease(4, 100)])
        wait_for(lambda: states(site) == {1: "Done"})
    path, whole = tmp_path / TRANSCRIPT, (tmp_path / TRANSCRIPT).read_bytes()
    path.unlink()
    with opened(tmp_path) as site:
        wait_for(lambda: states(site) == {1: "Done"})
    assert path.read_bytes() == whole


def test_a_site_that_is_stopped_goes_on_exactly_there(tmp_path: Path) -> None:
    """The clock is noted ahead only for the case that it is killed."""
    with opened(tmp_path, 1e6) as site:
        site.inbox.accept([lease(1, 1e8)])
        wait_for(lambda: states(site) == {1: "Active"})
        site.inbox.control(lambda clock, reached: clock.pause(reached))
        stopped = site.inbox.now
    with opened(tmp_path, 1e-6) as site:
        assert site.inbox.now == pytest.approx(stopped, abs=1)


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    """One line names the file."""
    (tmp_path / JOURNAL).write_bytes(b"no database, but long enough to be read as one" * 100)
    with pytest.raises(SiteError, match=r"site\.sqlite: file is not a database"):
        make(tmp_path)


def test_every_algorithm_can_stand_behind_a_site(tmp_path: Path) -> None:
    """Jobs are asked for and taken back."""
    with opened(tmp_path, algorithm="easy") as site:
        site.inbox.accept([lease(4, 100), lease(4, 50)])
        wait_for(lambda: len(site.board.ended) == 2)
        assert [(job.id, job.start, job.end) for job in site.board.ended] == [("site!1", 0, 100), ("site!2", 100, 150)]
