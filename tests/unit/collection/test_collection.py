"""Collections: joining, leaving, updating, polling others, and hosts that refuse whoever asks (L3 to L5, L26, L40)."""

from __future__ import annotations

import pytest

from batsched_py.collection.collection import Collection
from batsched_py.collection.platform import platform_collection
from batsched_py.queries.columns import Columns
from batsched_py.queries.parser import parse
from batsched_py.queries.records import Requester
from batsched_py.queries.values import Value
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT


def test_attributes_are_joined_updated_and_gone() -> None:
    """LA-83: an update leaves other attributes alone; nobody finds who has left."""
    hosts = Collection()
    assert hosts.join("a", {"a": 1})
    assert hosts.update("a", {"b": 2})
    (record,) = hosts.query(parse("$a == 1 and $b == 2"))
    assert (record.name, record.attributes, record.age) == ("a", {"a": 1, "b": 2}, 0)
    assert hosts.leave("a")
    assert hosts.query() == []
    assert hosts.find("a") is None


def test_joining_twice_and_changing_strangers_fails_without_change() -> None:
    """L40: only the member, or its owner, updates it."""
    hosts = Collection()
    assert hosts.join("a", {"x": 1}, owner="site")
    assert not hosts.join("a", {"x": 2})
    assert not hosts.update("b", {"x": 2})
    assert not hosts.leave("b")
    assert not hosts.update("a", {"x": 2}, by="b")
    assert hosts.names(parse("$x == 1")) == ["a"]
    assert hosts.update("a", {"x": 3}, by="site")
    assert hosts.update("a", {"x": 4}, by="a")
    assert hosts.names(parse("$x == 4")) == ["a"]


def test_a_collection_that_polls_is_out_of_date() -> None:
    """LA-84: a host that leaves at 10 is known for as long as the last poll, of 0, counts."""
    child, parent = Collection(), Collection()
    child.join("h", {"x": 1})
    parent.poll(child)  # all of it, every 300 s, which are the defaults (L4)
    assert [(record.name, record.age) for record in parent.query(now=0)] == [("h", 0)]
    child.leave("h")
    assert [(record.name, record.age) for record in parent.query(now=299)] == [("h", 299)]
    assert parent.query(now=300) == []


def test_polls_are_those_of_their_instants_however_late_somebody_asks() -> None:
    """Polls in between that no request needed are left out; the ages are as if they had been made."""
    child, parent = Collection(), Collection()
    child.join("h", {"x": 1})
    parent.poll(child, parse("$x == 1"), period=60, now=30)
    assert parent.query(now=29) == []
    assert [record.age for record in parent.query(now=30 + 60 * 5 + 7)] == [7]
    child.update("h", {"x": 2})
    assert parent.names(now=30 + 60 * 6 - 1) == ["h"]
    assert parent.names(now=30 + 60 * 6) == []


def test_of_two_ways_to_a_member_the_fresher_counts() -> None:
    """LA-85: one record."""
    host, near, far, top = Collection(), Collection(), Collection(), Collection()
    host.join("h", {"x": 1})
    near.poll(host, period=10)
    far.poll(host, period=1000)
    top.poll(far, period=100)
    top.poll(near, period=100)
    near.query(now=0)
    far.query(now=0)
    host.update("h", {"x": 2})
    (record,) = top.query(now=305)
    assert (record.attributes, record.age) == ({"x": 2}, 5)


def test_ages_add_up_over_several_levels() -> None:
    """A change at the bottom arrives at the top with a poll of each level; its record is as old as the lowest poll."""
    hosts, room, hall, site = Collection(), Collection(), Collection(), Collection()
    hosts.join("h", {"x": 1})
    room.poll(hosts, period=60)
    hall.poll(room, period=100, now=10)
    site.poll(hall, period=300, now=20)
    (record,) = site.query(now=25)
    assert (record.attributes, record.age) == ({"x": 1}, 25)
    hosts.update("h", {"x": 2})
    for now, value, age in ((319, 1, 319), (320, 2, 20), (399, 2, 99), (619, 2, 319), (620, 2, 20)):
        (record,) = site.query(now=now)
        assert (record.attributes["x"], record.age) == (value, age)
    for level in (site, hall):
        level.refresh(899)
    hosts.leave("h")
    assert [level.names(now=899) for level in (site, hall, room)] == [["h"], ["h"], []]
    assert [level.names(now=919) for level in (site, hall)] == [["h"], []]
    assert site.names(now=920) == []


def test_a_record_is_corrected_until_it_is_polled_again() -> None:
    """Records of members are not: these describe themselves."""
    child, parent = Collection(), Collection()
    child.join("h", {"load": 0})
    parent.poll(child, period=10)
    assert parent.refresh(0)
    version = parent.version
    assert parent.correct("h", {"load": 1})
    assert parent.version > version
    assert not parent.refresh(9)
    assert parent.names(parse("$load == 1"), 9) == ["h"]
    assert parent.names(parse("$load == 0"), 10) == ["h"]
    assert not child.correct("h", {"load": 1})
    assert not parent.correct("other", {"load": 1})


def test_a_poll_without_news_takes_nothing_over_but_corrects_what_was_corrected() -> None:
    """Ages are those of the poll; a member that has left is found again."""
    child, parent = Collection(), Collection()
    child.join("h", {"load": 0})
    child.join("i", {"load": 0})
    parent.poll(child, period=10)
    parent.refresh(0)
    version = parent.version
    assert [record.age for record in parent.query(now=14)] == [4, 4]
    assert parent.version == version
    parent.correct("h", {"load": 1})
    assert parent.join("i", {"load": 5})
    assert parent.leave("i")
    assert parent.names(parse("$load == 0"), 19) == []
    assert parent.names(parse("$load == 0"), 20) == ["h", "i"]
    child.update("h", {"load": 2})
    assert parent.names(parse("$load == 2"), 30) == ["h"]


def test_one_record_is_asked() -> None:
    """By its name."""
    hosts = Collection()
    hosts.join("a", {"x": 1})
    hosts.join("b", {"x": 2})
    query = parse("$x == 2")
    assert [hosts.suits(name, query) for name in ("a", "b", "c")] == [False, True, False]


def test_what_a_level_does_not_pass_on_is_not_known_above() -> None:
    """Each level polls with a query of its own, and forgets what does not satisfy it any more."""
    hosts, room, site = Collection(), Collection(), Collection()
    for number in range(4):
        hosts.join(f"h{number}", {"n": number, "up": True})
    room.poll(hosts, parse("$up"), period=10)
    site.poll(room, parse("$n >= 2"), period=10, now=5)
    assert site.names(now=5) == ["h2", "h3"]
    hosts.update("h2", {"up": False})
    assert [level.names(now=14) for level in (room, site)] == [["h0", "h1", "h3"], ["h2", "h3"]]
    assert site.names(now=15) == ["h3"]


def test_a_member_is_fresher_than_what_was_polled() -> None:
    """It is never overwritten."""
    child, parent = Collection(), Collection()
    child.join("h", {"x": 1})
    parent.poll(child, period=10)
    assert parent.names(now=0) == ["h"]
    assert parent.join("h", {"x": 5})
    assert [record.attributes for record in parent.query(now=50)] == [{"x": 5}]


def test_who_is_certain_to_be_refused_does_not_find_the_host() -> None:
    """LA-34: A allows ann; bob finds B, or both if he does not say who he is."""
    hosts = Collection()
    hosts.join("A", {"allowed_users": "ann, eve"})
    hosts.join("B", {"allowed_classes": "Foo"})
    assert [record.name for record in hosts.query(requester=Requester(user="bob"))] == ["B"]
    assert [record.name for record in hosts.query(requester=Requester(user="eve", job_class="Bar"))] == ["A"]
    assert [record.name for record in hosts.query()] == ["A", "B"]


def test_many_who_join_and_leave_leave_no_rows_behind() -> None:
    """Memory is that of the members."""
    hosts = Collection()
    hosts.join("first", {"n": -1})
    for number in range(1000):
        hosts.join(f"h{number}", {"n": number})
        if number >= 10:
            hosts.leave(f"h{number - 10}")
    assert hosts.names() == ["first", *(f"h{number}" for number in range(990, 1000))]
    assert hosts.names(parse("$n == 995 or $n < 0")) == ["first", "h995"]
    assert hosts._columns.length < 200


def test_answers_heed_changes_of_what_they_read() -> None:
    """Other changes do not matter: an attribute of another type is another value."""
    columns = Columns()
    row = columns.add({"x": 1, "y": 1})
    query = parse("$x == 1 and $x / 2 == 0")
    assert columns.select(query).true == 1
    columns.update(row, {"x": 1.0})
    assert columns.select(query).true == 0
    version = columns.version
    columns.update(row, {"x": 1.0, "y": 1})
    assert columns.version == version
    columns.add({"x": 1})
    assert columns.select(query).true == 2
    columns.remove(row)
    assert columns.select(parse("true")).true == 2


def test_hosts_of_a_platform_have_what_it_says_and_what_a_run_computes() -> None:
    """Properties of their zones, too; names that no attribute may have are changed."""
    collection = platform_collection(read_platform(ROOT / "platforms" / "tiny4.xml"))
    first = collection.query()[0]
    assert first.attributes["id"] == 0
    assert first.attributes["kind"] == "host"
    assert {"load": 0.0, "jobs": 0, "up": True, "free_cpu": 100, "free_mem": 1024}.items() <= first.attributes.items()


@pytest.mark.parametrize("count", [0, 1, 70, 1000])
def test_rows_are_found_in_order(count: int) -> None:
    """However many."""
    hosts = Collection()
    for number in range(count):
        hosts.join(f"h{number}", {"n": number})
    assert hosts.names(parse("$n mod 3 == 1")) == [f"h{number}" for number in range(count) if number % 3 == 1]


@pytest.mark.parametrize(
    "rows",
    [
        [(7, 2), (8, 3), (0, 5)],
        [(7, 2), (-7, 2), (7, -2), (-7, -2)],
        [(7.5, 2), (-7.5, 2), (1e308, 0.1)],
        [(7, 2.5), (-7, 0.5)],
        [(7, 2), (7.0, 2), (7, 2.0)],
        [(7, 0), (7.0, 2), (0, 1)],
        [(10**400, 2.5), (1, 1.5)],
        [(float("inf"), float("inf")), (float("inf"), 2.0)],
        [("7", 2), ("x", 2), (True, 2)],
    ],
)
def test_many_records_are_computed_like_each(rows: list[tuple[Value, Value]]) -> None:
    """Values that are computed for all records at once are those of each."""
    hosts = Collection()
    for number, (one, other) in enumerate(rows):
        hosts.join(f"h{number}", {"a": one, "b": other})
    for value in ("$a / $b", "$a mod $b", "max($a, $b)", "min($b, $a)", "int($a)", "float($a)"):
        for bound in (-3, 0, 1, 3, 3.5, 7):
            query = parse(f"{value} >= {bound}")
            true = [record.name for record in hosts.query() if query.evaluate(record.attributes) is True]
            assert hosts.names(query) == true, query
