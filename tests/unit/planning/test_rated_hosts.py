"""Rated hosts: what they keep changes no place."""

from __future__ import annotations

import random

import pytest

from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, Places, TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning import rated_hosts
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.planning.policies.rating import Rating
from batsched_py.planning.rated_hosts import RatedHosts
from tests.thoroughness import thorough

TYPES = (
    HostCapacity(cores=8000, memory=100, gpus=2, model="T4"),
    HostCapacity(cores=16_000, memory=50, gpus=4, model="V100"),
    HostCapacity(cores=4000, memory=200, others=(("fpga", 2),)),
)
HOSTS = 70
#: As a machine of a few hosts, and of more than one word of bits.
SIZES = (5, HOSTS)


def drawn_demand(draw: random.Random) -> JobDemand:
    task: dict[str, object] = {"cores": draw.choice((500, 1000, 3000)), "memory": draw.choice((0, 5, 40))}
    kind = draw.random()
    if kind < 0.5:
        task |= {"gpus": draw.choice((1, 1, 2, 4)), "models": draw.choice(((), ("T4",), ("V100", "A100")))}
        task["share"] = draw.choice((300, 500, 600, 1000))
    elif kind < 0.6:
        task["others"] = (("fpga", 1),)
    elif kind < 0.7:
        task["exclusive"] = True
    return JobDemand(
        tasks=draw.choice((1, 1, 2, 5, 40)),
        task=TaskDemand(**task),  # type: ignore[arg-type]
        spread=draw.random() < 0.3,
    )


def placed_naively(wanted: JobDemand, rooms: dict[int, HostRoom], among: int, rating: Rating) -> Places | None:
    """Place each task on the host with the highest rate, after looking at all hosts."""
    rooms = {host: room.copy() for host, room in rooms.items() if among >> host & 1}
    found: dict[int, list[tuple[int, ...]]] = {}
    for _ in range(wanted.tasks):
        rates = {}
        for host, room in rooms.items():
            if not (room.lacking(wanted.task) or (wanted.spread and host in found)):
                rates[host] = rating.rated(room.needed(wanted.task))(room)
        if not rates:
            return None
        best = min(host for host, rate in rates.items() if rate == max(rates.values()))
        gpus = rating.gpus(rooms[best], rooms[best].needed(wanted.task))
        rooms[best].take(wanted.task, gpus)
        found.setdefault(best, []).append(gpus)
    return tuple(TaskPlace(host, sum(gpus, ()), len(gpus)) for host, gpus in sorted(found.items()))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", sorted(PACKED_SELECTIONS))
def test_places_are_those_found_by_looking_at_all_hosts(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tasks that come and go, though changes and demands are forgotten."""
    monkeypatch.setattr(rated_hosts, "_BLOCK", 2)
    monkeypatch.setattr(rated_hosts, "_MOST_ENTRIES", 4)
    monkeypatch.setattr(rated_hosts, "_MOST_DEMANDS", 8)
    draw = random.Random(f"{name} {size}")
    capacities = {host: draw.choice(TYPES) for host in range(size)}
    rooms = {host: HostRoom(capacity) for host, capacity in capacities.items()}
    demands = [drawn_demand(draw) for _ in range(15)]
    rating = PACKED_SELECTIONS[name].prepare(tuple(capacities.values()), [wanted.task for wanted in demands])
    rated = RatedHosts(capacities, rating, lambda host: None if rooms[host].is_empty else rooms[host])
    running: list[tuple[JobDemand, Places]] = []
    for _ in range(thorough(60)):
        while running and draw.random() < 0.45:
            wanted, places = running.pop(draw.randrange(len(running)))
            for place in places:
                rooms[place.host].give_all(wanted.task, place)
            rated.change(place.host for place in places)
        wanted, among = draw.choice(demands), draw.choice((-1, -1, draw.getrandbits(size))) & (1 << size) - 1
        found = rated.place(wanted, among)
        assert found == placed_naively(wanted, rooms, among, rating)
        if found is not None:
            for place in found:
                rooms[place.host].take_all(wanted.task, place)
            rated.change(place.host for place in found)
            running.append((wanted, found))
        rated.check()
