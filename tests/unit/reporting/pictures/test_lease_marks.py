"""Marks of leases: what of them is shown beside their runs, where, and in whose colour."""

from __future__ import annotations

from batsched_py.hostset import HostSet
from batsched_py.reporting.pictures.lease_marks import kinds_of, lease_marks, marks_in
from batsched_py.reporting.pictures.window import drawn, lease_numbers, number_jobs, shown_numbers, window_on
from tests.unit.reporting.lease_runs import schedule
from tests.unit.reporting.sample_schedules import schedule as without_leases


def marks(name: str = "quickstart") -> list[tuple[str, int, float, float, str]]:
    """Kind, lease, start, end and hosts of each mark."""
    run = schedule(name)
    assert run.leases is not None
    return [(one.kind, one.lease, one.start, one.finish, str(one.hosts)) for one in lease_marks(run.leases)]


def test_the_quickstart_has_a_suspension_a_resumption_and_a_reservation() -> None:
    """A reservation that takes no time has no mark: nothing is shut down here."""
    assert marks() == [
        ("suspend", 1, 1768, 1800, "0"),
        ("reservation", 2, 1800, 3600, "0-3"),
        ("resume", 1, 3600, 3632, "0"),
    ]


def test_work_that_is_thrown_away_is_marked() -> None:
    """The lease begins again when the reservation is over."""
    assert ("lost", 1, 0, 900, "0") in marks("requeue")


def test_transfers_migrations_and_kept_images_are_marked() -> None:
    """An image stays to the end: nobody needs its room."""
    found = marks("images")
    assert ("transfer", 1, 0, 82, "0") in found
    assert ("image", 0, 82, 5770, "0") in found
    assert {kind for kind, *_ in found} == {
        "transfer", "suspend", "reservation", "shutdown", "migrate", "resume", "image",
    }  # fmt: skip


def test_a_reservation_is_marked_from_its_request_on() -> None:
    """The quickstart's is requested at 900."""
    leases = schedule().leases
    assert leases is not None
    assert [one.asked for one in lease_marks(leases)] == [1768, 900, 3600]


def test_all_jobs_of_a_lease_have_the_number_of_its_first() -> None:
    """So they have one colour, and one letter."""
    run = schedule()
    numbers = number_jobs([run])
    assert lease_numbers(run, numbers) == {1: 0, 2: 1}
    assert shown_numbers(run, numbers) == {"w0!1": 0, "w0!2": 1, "w0!1#1": 0}
    assert [number for number, _ in drawn(run, window_on([run]), numbers)] == [0, 0, 1]


def test_marks_stand_in_the_places_of_a_window() -> None:
    """Hosts 2 and 3, from the time at which the reservation is known."""
    run = schedule()
    [mark] = marks_in(run, window_on([run], 1000, 1700, HostSet.parse("2-3")))
    assert (mark.kind, mark.hosts) == ("reservation", HostSet.of(0, 1))
    assert marks_in(run, window_on([run], 100, 900)) == []


def test_a_window_is_as_long_as_the_leases() -> None:
    """Machines are shut down after their jobs."""
    run = schedule("images")
    assert max(record.finish for record in run.ran) < window_on([run]).end == 5770


def test_runs_without_leases_have_no_marks() -> None:
    """Nor kinds in a legend."""
    run = without_leases()
    assert (marks_in(run, window_on([run])), lease_numbers(run, number_jobs([run])), kinds_of([])) == ([], {}, [])
