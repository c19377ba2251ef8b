"""Places that tasks of a job would find on other hosts than now: hosts that are woken, or that jobs leave."""

from __future__ import annotations

from collections.abc import Iterable

from batsched_py.hostset import HostSet
from batsched_py.model.host_room import HostRoom, Places
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.task_packing import Pack
from batsched_py.state.rooms import Rooms
from batsched_py.state.running import Running


def later_places(
    rooms: Rooms, wanted: JobDemand, hosts: HostSet, pack: Pack, ended: Iterable[Running] = ()
) -> Places | None:
    """Return the places of all tasks on these hosts, as if they were usable and some jobs had ended; None for none.

    Tasks that run on the hosts keep their resources. Which hosts have other work is left to the caller.
    """
    offered: dict[int, HostRoom] = {host: rooms.room(host) for host in hosts}
    licensed = dict(rooms.licensed)
    for run in ended:
        demand = run.job.demand
        if not run.places or demand is None:
            continue
        for place in run.places:
            if place.host in offered:
                offered[place.host] = room = offered[place.host].copy()
                room.give_all(demand.task, place)
        for name, number in demand.licences:
            licensed[name] -= number
    if any(licensed.get(name, 0) + number > rooms.licences.get(name, 0) for name, number in wanted.licences):
        return None
    return pack(wanted, offered)
