"""The member `task_gpus` of a start."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.hostset import HostSet
from batsched_py.model.host_room import Places, TaskPlace
from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.task_gpus import mapping_of


@st.composite
def drawn_places(draw: st.DrawFn) -> Places:
    """Tasks with as many GPUs each on a few hosts."""
    each = draw(st.integers(0, 2))
    hosts = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True))
    places = []
    for host in sorted(hosts):
        tasks = draw(st.integers(1, 3))
        gpus = draw(st.lists(st.integers(0, 7), min_size=each * tasks, max_size=each * tasks))
        places.append(TaskPlace(host, tuple(gpus), tasks))
    return tuple(places)


@pytest.mark.parametrize("dialect", [V4, V14, V5], ids=lambda dialect: dialect.name)
def test_places_that_are_written_are_those_that_are_read(dialect: Dialect) -> None:
    """The hosts of the tasks are in the mapping, their GPUs in the order of the executors."""

    @given(drawn_places())
    def check(places: Places) -> None:
        hosts = HostSet.from_ids(place.host for place in places)
        command = ExecuteJob(7.0, "w0!1", hosts, mapping_of(places), places=places)
        message = encode(Message(7.0, (command,)), dialect.commands, dialect.name, keep_unknown=True)
        [read] = decode(message, dialect.commands, keep_unknown=True).events
        assert read == command

    check()


def test_executors_on_hosts_of_their_own_need_no_mapping() -> None:
    """Batsim places them in the order of the hosts."""
    assert mapping_of((TaskPlace(2, (0,)), TaskPlace(5, (1,)))) is None
    assert mapping_of((TaskPlace(2, ()), TaskPlace(5, (), 2))) == {0: 0, 1: 1, 2: 1}
