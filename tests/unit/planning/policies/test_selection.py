"""Host selections against naive definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import OptionError, PlanError
from batsched_py.hostset import HostSet
from batsched_py.planning.future.promises import Choose
from batsched_py.planning.policies.selection import SELECTIONS, HostLayout, adopt
from batsched_py.state.host import Host
from tests.builders import hosts

HOSTS = 10
#: Free hosts of a machine of 10, and how many are wanted.
FREE = st.integers(0, (1 << HOSTS) - 1).map(HostSet)
SIZE = st.integers(1, HOSTS)
#: The rack of each host.
RACKS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=HOSTS, max_size=HOSTS)

POWER = "100:120:220, 8:8:8, 110:110:110, 150:150:150"
FRUGAL = "40:40:80, 6:6:6, 45:45:45, 60:60:60, 2:2:2, 45:45:45, 70:70:70"


class Computer:
    """A machine with properties and sleepers."""

    def __init__(self, *properties: Mapping[str, str], zones: Mapping[int, Mapping[str, str]] | None = None) -> None:
        self.hosts = {
            number: Host(number, f"n{number}", mine, (zones or {}).get(number, {}), frozenset(), frozenset(), 0)
            for number, mine in enumerate(properties)
        }
        self.asleep = HostSet()
        self.pstates: dict[int, str] = {}

    def pstate(self, host: int) -> str | None:
        return self.pstates.get(host)


def plain() -> Computer:
    return Computer(*[{} for _ in range(HOSTS)])


def in_racks(racks: list[str]) -> Computer:
    return Computer(*[{"rack": rack} for rack in racks])


def chooser(name: str, computer: Computer, zone: str = "") -> Choose:
    needs_topology = SELECTIONS[name].uses == ("topology",)
    return SELECTIONS[name].prepare(computer, HostLayout(zone, "torus:5,2" if needs_topology else ""))


def runs(chosen: HostSet) -> int:
    return len(list(chosen.intervals()))


def zones(chosen: HostSet, racks: list[str]) -> int:
    return len({racks[host] for host in chosen})


def fewest(free: HostSet, size: int, count: Callable[[HostSet], int]) -> int:
    """The least that any choice of `size` of them has."""
    return min(count(HostSet.from_ids(chosen)) for chosen in combinations(free, size))


def found(chosen: HostSet | None) -> HostSet:
    assert chosen is not None
    return chosen


@pytest.mark.parametrize("name", [name for name in SELECTIONS if SELECTIONS[name].total])
@given(FREE, SIZE, RACKS, st.integers(0, (1 << HOSTS) - 1))
def test_hosts_are_found_exactly_where_enough_are_free(
    name: str, free: HostSet, size: int, racks: list[str], asleep: int
) -> None:
    """As many as wanted, all of them free; None where there are fewer."""
    computer = in_racks(racks)
    computer.asleep = HostSet(asleep)
    chosen = chooser(name, computer)(free, size)
    if size > len(free):
        assert chosen is None
    else:
        assert len(found(chosen)) == size
        assert found(chosen) <= free


@given(FREE, SIZE)
def test_lowest_takes_the_lowest_numbers(free: HostSet, size: int) -> None:
    """As sorting them would."""
    expected = HostSet.from_ids(sorted(free)[:size]) if size <= len(free) else None
    assert chooser("lowest", plain())(free, size) == expected


@given(FREE, SIZE)
def test_contiguous_takes_the_start_of_the_shortest_run_that_suffices(free: HostSet, size: int) -> None:
    """One run, from the best fit; None exactly if no run is long enough."""
    enough = [(high - low, low) for low, high in free.intervals() if high - low + 1 >= size]
    expected = HostSet.from_ids(range(min(enough)[1], min(enough)[1] + size)) if enough else None
    assert chooser("contiguous", plain())(free, size) == expected


@given(FREE, SIZE)
def test_best_effort_contiguous_takes_as_few_runs_as_possible(free: HostSet, size: int) -> None:
    """No other choice has fewer runs; where one run suffices it is the one of `contiguous`."""
    chosen = chooser("best_effort_contiguous", plain())(free, size)
    if chosen is not None:
        assert runs(chosen) == fewest(free, size, runs)
    contiguous = chooser("contiguous", plain())(free, size)
    assert contiguous is None or chosen == contiguous


def test_best_effort_contiguous_leaves_longer_runs_whole() -> None:
    """The longest run is taken, and the rest from the shortest that suffices."""
    free = hosts("0-3 5-6 8-10 12-18")
    assert chooser("best_effort_contiguous", plain())(free, 9) == hosts("5-6 12-18")


@given(FREE, SIZE, RACKS)
def test_topology_takes_as_few_zones_as_possible(free: HostSet, size: int, racks: list[str]) -> None:
    """No other choice has fewer; a job that fits in one zone gets the one that is fullest."""
    chosen = chooser("topology", in_racks(racks))(free, size)
    if chosen is None:
        return
    assert zones(chosen, racks) == fewest(free, size, lambda some: zones(some, racks))
    if zones(chosen, racks) == 1:
        free_in = {rack: sum(racks[host] == rack for host in free) for rack in racks}
        mine = free_in[racks[min(chosen)]]
        assert mine == min(count for count in free_in.values() if count >= size)


def test_topology_prefers_the_smallest_zone_that_suffices() -> None:
    """Rooms of racks: a rack, else racks of one room, else as few rooms as possible."""
    rooms = [{"room": room, "rack": rack} for room in "AB" for rack in "xy" for _ in range(3)]
    choose = chooser("topology", Computer(*rooms), "rack/room")
    everything = HostSet.range(12)
    assert choose(everything, 3) == hosts("0-2")
    assert choose(everything - hosts("0 3"), 3) == hosts("6-8")
    assert choose(everything - hosts("0"), 4) == hosts("1 3-5")
    assert choose(everything - hosts("0"), 7) == hosts("1 6-11")


@given(FREE, SIZE, RACKS)
def test_spread_takes_as_many_zones_as_possible_and_as_evenly(free: HostSet, size: int, racks: list[str]) -> None:
    """No zone gives two more than another that has a free host left."""
    chosen = chooser("spread", in_racks(racks))(free, size)
    if chosen is None:
        return
    assert zones(chosen, racks) == min(size, zones(free, racks))
    given_by = {rack: sum(racks[host] == rack for host in chosen) for rack in racks}
    for rack in racks:
        exhausted = all(host in chosen for host in free if racks[host] == rack)
        assert exhausted or given_by[rack] + 1 >= max(given_by.values())


def test_spread_keeps_distances_inside_a_zone() -> None:
    """Hosts at equal distances among the free ones; with levels, racks of each room in turn."""
    assert chooser("spread", plain())(hosts("0-9"), 3) == hosts("0 3 6")
    rooms = [{"room": room, "rack": rack} for room in "AB" for rack in "xy" for _ in range(3)]
    assert chooser("spread", Computer(*rooms), "rack/room")(HostSet.range(12), 4) == hosts("0 3 6 9")


@given(FREE, SIZE, FREE)
def test_cheapest_takes_who_is_awake_first(free: HostSet, size: int, asleep: HostSet) -> None:
    """Without a difference in cost: the lowest of the awake, then the lowest of those that sleep."""
    computer = plain()
    computer.asleep = asleep
    order = sorted(free - asleep) + sorted(free & asleep)
    expected = HostSet.from_ids(order[:size]) if size <= len(free) else None
    assert chooser("cheapest", computer)(free, size) == expected


def test_cheapest_wakes_those_that_draw_least_while_they_switch_on() -> None:
    """By the pstate that stands for switching on, of the sleep a host is in; without a description it is dearest."""
    fast = {"wattage_per_state": POWER, "sleep_pstates": "1:2:3"}
    frugal = {"wattage_per_state": FRUGAL, "sleep_pstates": "1:2:3, 4:5:6"}
    computer = Computer({}, fast, frugal, frugal, fast)
    computer.asleep = hosts("0-3")
    computer.pstates = {1: "1", 2: "4", 3: "1"}
    choose = chooser("cheapest", computer)
    assert [choose(hosts("0-4"), size) for size in (1, 2, 3, 4)] == [
        hosts("4"),
        hosts("3-4"),
        hosts("2-4"),
        hosts("1-4"),
    ]


def test_cheapest_counts_the_energy_of_waking_where_its_time_is_told() -> None:
    """60 W for 100 s are dearer than 150 W for 10 s; a host that tells no time comes after both."""
    computer = Computer(
        {"wattage_per_state": FRUGAL, "sleep_pstates": "1:2:3"},
        {"wattage_per_state": FRUGAL, "sleep_pstates": "1:2:3", "speed_per_state": "1e9,1,1,0.01,1,1,1"},
        {"wattage_per_state": POWER, "sleep_pstates": "1:2:3", "speed_per_state": "1e9,1,1,0.1"},
    )
    computer.asleep = hosts("0-2")
    choose = chooser("cheapest", computer)
    assert [choose(hosts("0-2"), size) for size in (1, 2)] == [hosts("2"), hosts("1-2")]


def test_a_property_that_nobody_has_is_one_line() -> None:
    """A mistyped name is not the machine in one zone."""
    with pytest.raises(OptionError, match="option zone: no host of the platform has a property 'rakc'"):
        chooser("topology", in_racks(["a"] * HOSTS), "rakc")


def test_zones_are_the_zone_properties_if_no_host_has_a_rack() -> None:
    """All of them together; a rack of the zone counts like one of the host."""
    computer = Computer({}, {}, {}, zones={0: {"row": "1"}, 2: {"row": "1"}, 1: {"row": "2"}})
    assert chooser("topology", computer)(hosts("0-2"), 2) == hosts("0 2")
    computer = Computer({}, {}, {}, zones={0: {"rack": "1", "x": "y"}, 2: {"rack": "1"}, 1: {"rack": "2", "x": "y"}})
    assert chooser("topology", computer)(hosts("0-2"), 2) == hosts("0 2")


def highest(free: HostSet, size: int, machine: Mapping[int, Any]) -> HostSet:
    return HostSet.from_ids(sorted(free)[-size:])


def test_a_function_of_the_user_chooses() -> None:
    """It sees what is free, how many are wanted and the hosts; it is not asked where too few are free."""
    selection = adopt("mine:highest", highest)
    assert (selection.name, selection.total) == ("mine:highest", False)
    choose = selection.prepare(plain(), HostLayout())
    assert choose(hosts("0-5"), 2) == hosts("4-5")
    assert choose(hosts("0-5"), 7) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (hosts("1-2"), "selection mine:f for 2 hosts of 0-1: it gave 1-2, of which 2 is not free"),
        (hosts("1"), "selection mine:f for 2 hosts of 0-1: it gave 1, 1 host"),
        ([0, 1], r"selection mine:f for 2 hosts of 0-1: it must give a HostSet or None, not \[0, 1\]"),
    ],
)
def test_what_a_function_of_the_user_may_not_give_is_one_line(given: Any, words: str) -> None:
    """Hosts that are not free, too few, no host set."""
    choose = adopt("mine:f", lambda free, size, machine: given).prepare(plain(), HostLayout())
    with pytest.raises(PlanError, match=words):
        choose(hosts("0-1"), 2)


def test_a_function_of_the_user_that_raises_is_named_with_what_it_was_asked() -> None:
    """It does not know the job, but its free hosts and how many of them."""

    def broken(free: HostSet, size: int, hosts: Mapping[int, Any]) -> HostSet:
        raise IndexError("no\nsuch rack")

    with pytest.raises(PlanError) as caught:
        adopt("mine:broken", broken).prepare(plain(), HostLayout())(hosts("0-1"), 2)
    assert str(caught.value) == "selection mine:broken for 2 hosts of 0-1: it raised IndexError: no such rack"


def test_a_function_that_does_not_take_three_arguments_is_refused() -> None:
    """When the option is read, not when the first job comes."""
    with pytest.raises(ValueError, match=r"mine:f must be a function of \(free, size, hosts\)"):
        SELECTIONS.find("mine:f", lambda target, kind: lambda free: free)
