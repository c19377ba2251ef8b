"""Changes between snapshots, of snapshots by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("litestar")

from batsched_py.leases.accounting.rows import LiveRow, lease_row
from batsched_py.leases.lease import Lease
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.table import Table
from batsched_py.results.lease_rows import LeaseRow, ReservationRow
from batsched_py.site.api.changes import SiteChange, SiteChanges
from batsched_py.site.api.schedule import SiteSchedule
from batsched_py.site.board import Board
from batsched_py.site.snapshot import HostsNow, JobNow, Snapshot


class Rows(list[ReservationRow]):
    """Rows that count how many of them are read one by one."""

    read = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        Rows.read += len(found) if isinstance(place, slice) else 1
        return found


class Scene:
    """A board whose snapshots are made by hand."""

    def __init__(self) -> None:
        self.leases: dict[int, LeaseRow] = {}
        self.live: list[LiveRow] = []
        self.ended: list[LeaseRow] = []
        self.past = Rows()
        self.board = cast(Board, SimpleNamespace(snapshot=None, ended=list[JobNow]()))
        self.number = 0
        self.see()
        self.changes = SiteChanges(lambda: self.board.snapshot, self.board.ended)
        self.schedule = SiteSchedule(self.board, range(10**9))

    def see(self, *jobs: JobNow) -> int:
        """Make a snapshot; return its number."""
        self.number += 1
        tables = {
            "leases": Table("leases", LeaseRow._fields, list(self.leases.values())),
            "reservations": Table("reservations", LiveRow._fields, list(self.live)),
            "ended_leases": Table("ended_leases", LeaseRow._fields, self.ended),
            "past_reservations": Table("past_reservations", ReservationRow._fields, self.past),
        }
        hosts = HostsNow("", "", "", "")
        waiting = [job for job in jobs if job.state == "waiting"]
        running = [job for job in jobs if job.state == "running"]
        self.board.snapshot = Snapshot(
            self.number, 0.0, waiting, running, 0, hosts, tables, {job.id: job for job in jobs}
        )
        return self.number

    def request(self, *numbers: int) -> None:
        """Leases that wait."""
        self.leases |= {one: lease_row(Lease(one, LeaseKind.BEST_EFFORT, 0, 10, ((),))) for one in numbers}

    def run(self, number: int, start: float) -> None:
        """A lease runs from a time on."""
        self.live.append(LiveRow(number, "vm", "under way", start, start + 10, "0"))

    def end(self, number: int) -> None:
        """A lease ends."""
        self.ended.append(self.leases.pop(number))
        [row] = [row for row in self.live if row.lease == number]
        self.live.remove(row)
        self.past.append(ReservationRow(number, "vm", row.start, row.end, "0", 0))

    def since(self, number: int) -> SiteChange:
        """The changes since a snapshot, which are known."""
        found = self.changes.since(number)
        assert found is not None
        return found


def test_only_what_has_changed_is_in_a_change() -> None:
    """They are those of a thousand leases that began, ended or came."""
    scene = Scene()
    scene.request(*range(1, 1000))
    for number in range(1, 100):
        scene.run(number, 0)
    first = scene.see()
    scene.changes.catch_up()
    scene.end(5)
    scene.run(200, 10)
    scene.request(1000)
    second = scene.see()
    found = scene.since(first)
    assert sorted(found.leases) == [5, 200, 1000]
    assert found.number == second
    assert {one.lease: [(block.phase, block.start) for block in one.blocks] for one in blocks(scene, found)} == {
        5: [("over", 0)],
        200: [("under way", 10)],
        1000: [],
    }
    assert not scene.since(second).leases


def blocks(scene: Scene, change: SiteChange) -> list[Any]:
    """The blocks of the leases of a change."""
    return scene.schedule.of_leases(change, scene.changes.live_rows)


def test_a_client_that_was_away_gets_all_changes_at_once() -> None:
    """Each lease once, also one that came and ended meanwhile."""
    scene = Scene()
    scene.changes.catch_up()
    scene.request(1, 2)
    scene.run(1, 0)
    scene.see()
    scene.changes.catch_up()
    scene.end(1)
    scene.see()
    found = scene.since(1)
    assert sorted(found.leases) == [1, 2]
    assert [one.phase for one in blocks(scene, found)[0].blocks] == ["over"]


def test_changes_that_are_not_known_or_too_many_are_none() -> None:
    """Those before the oldest snapshot that is kept, and more than a list of leases has."""
    scene = Scene()
    scene.changes.catch_up()
    assert scene.changes.since(None) is None
    scene.request(*range(1, 202))
    scene.see()
    assert scene.changes.since(1) is None
    for _ in range(300):
        scene.see()
        scene.changes.catch_up()
    assert scene.changes.since(2) is None
    assert scene.since(300).leases == set()


def test_a_reason_that_is_different_is_no_change() -> None:
    """Those of a long queue differ in each snapshot; an order or a start is a change."""
    scene = Scene()
    one, other = (JobNow(f"site!{number}", "waiting", 1, None, 0.0, why="a") for number in (1, 2))
    scene.see(one, other)
    scene.changes.catch_up()
    again = [JobNow(job.id, "waiting", 1, None, 0.0, why="b") for job in (one, other)]
    number = scene.see(*again)
    found = scene.since(number - 1)
    assert (sorted(found.leases), found.queue) == ([], False)
    number = scene.see(*again[::-1])
    assert scene.since(number - 1).queue
    number = scene.see(JobNow("site!1", "running", 1, None, 0.0, 5.0, hosts="0"), again[1])
    assert sorted(scene.since(number - 1).leases) == [1]


def test_an_event_names_its_process_and_snapshot() -> None:
    """A site that was started again has other names."""
    changes, other = Scene().changes, Scene().changes
    assert changes.number_of(changes.name(7)) == 7
    assert [changes.number_of(name) for name in (other.name(7), "", "-7", f"{changes.name(7)}x")] == [None] * 4


def test_a_schedule_does_not_look_at_what_ended_before_its_begin() -> None:
    """Ten thousand are past, and only those that end later are read."""
    scene = Scene()
    scene.past += [ReservationRow(number, "vm", number, number + 10.0, "0", 0) for number in range(10_000)]
    scene.see()
    scene.schedule.between(1e9, 2e9)
    Rows.read = 0
    found = scene.schedule.between(9_000, 9_100)
    assert [one.number for one in found] == list(range(8_991, 9_100))
    assert Rows.read < 1_100
    scene.past.append(ReservationRow(10_001, "vm", 0.0, 5.0, "0", 0))  # of a lease that ended early and is kept late
    scene.see()
    assert [one.number for one in scene.schedule.between(0, 5.5)][-1] == 10_001
