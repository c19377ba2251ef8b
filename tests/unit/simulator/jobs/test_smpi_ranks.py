"""Messages of collective operations, counted rank by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.replay import Smpi, SmpiAction, alltoall_algorithm
from batsched_py.simulator.jobs.smpi_ranks import HEADER, SmpiRanks


class Immediate:
    """A machine on which all takes no time; what is begun is done after what is under way."""

    def __init__(self, started: int) -> None:
        self.started = started
        self.sent = Counter[tuple[int, int, float]]()
        self.computed = Counter[int]()
        self.waiting: list[Callable[[], None]] = []

    def compute(self, rank: int, flops: float, resume: Callable[[], None]) -> None:
        self.computed[rank] += int(flops)
        self.waiting.append(resume)

    def sleep(self, seconds: float, resume: Callable[[], None]) -> None:
        del seconds
        self.waiting.append(resume)

    def transfer(self, source: int, target: int, size: float, arrive: Callable[[], None]) -> None:
        self.sent[source, target, size - HEADER] += 1
        self.waiting.append(arrive)


def run(*ranks: list[SmpiAction]) -> tuple[Immediate, set[int]]:
    """Return what was sent, and the ranks that have ended."""
    machine, ended = Immediate(len(ranks)), set[int]()
    program = Smpi("p", "smpi", {}, tuple(map(tuple, ranks)))
    programs = SmpiRanks(program, machine).programs()

    def go_on(rank: int) -> None:
        action = next(programs[rank], None)
        if action is None:
            ended.add(rank)
        else:
            action(lambda: go_on(rank))

    for rank in range(len(ranks)):
        go_on(rank)
    while machine.waiting:
        machine.waiting.pop(0)()
    return machine, ended


def everybody(count: int, action: SmpiAction) -> tuple[Immediate, set[int]]:
    """Let each rank do this twice: the second time meets the second."""
    return run(*[[action, action] for _ in range(count)])


def pairs(
    count: int, size: Callable[[int, int], float], keep: Callable[[int, int], bool]
) -> Counter[tuple[int, int, float]]:
    """Return two messages for each pair of different ranks that is kept."""
    found = [(a, b) for a in range(count) for b in range(count) if a != b and keep(a, b)]
    return Counter({(a, b, size(a, b)): 2 for a, b in found})


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_messages_of_linear_operations(count: int) -> None:
    """To the root, from the root, or between all."""
    root = count - 1
    counts = tuple(10.0 * (rank + 1) for rank in range(count))

    def to_root(_: int, target: int) -> bool:
        return target == root

    expected = {
        SmpiAction("gather", root, 0, (7.0,)): pairs(count, lambda *_: 7.0, to_root),
        SmpiAction("reduce", root, 0, (7.0,), 3.0): pairs(count, lambda *_: 7.0, to_root),
        SmpiAction("scatter", root, 0, (7.0,)): pairs(count, lambda *_: 7.0, lambda a, _: a == root),
        SmpiAction("scatterv", root, 0, counts): pairs(count, lambda _, b: counts[b], lambda a, _: a == root),
        SmpiAction("allgather", 0, 0, (7.0,)): pairs(count, lambda *_: 7.0, lambda *_: True),
        SmpiAction("scan", 0, 0, (7.0,), 3.0): pairs(count, lambda *_: 7.0, lambda a, b: a < b),
        SmpiAction("exscan", 0, 0, (7.0,), 3.0): pairs(count, lambda *_: 7.0, lambda a, b: a < b),
    }
    for action, messages in expected.items():
        machine, ended = everybody(count, action)
        assert machine.sent == messages, action
        assert ended == set(range(count))
        flops = {rank: int(2 * action.amount) for rank in range(count)}
        assert dict(+machine.computed) == {rank: amount for rank, amount in flops.items() if amount}


@pytest.mark.parametrize("count", range(1, 18))
@pytest.mark.parametrize("root", [0, -1])
def test_a_broadcast_reaches_each_rank_once(count: int, root: int) -> None:
    """Along a tree from the root; a rank passes on only what it has."""
    machine, ended = everybody(count, SmpiAction("bcast", root % count, 0, (1e6,)))
    assert ended == set(range(count))
    assert Counter(target for _, target, _ in machine.sent) == Counter(set(range(count)) - {root % count})
    assert set(machine.sent.values()) <= {2}


@pytest.mark.parametrize("count", range(2, 18))
def test_operations_of_all_ranks_end(count: int) -> None:
    """Also those that consist of others, whatever the number of ranks."""
    for action in (
        SmpiAction("barrier"),
        SmpiAction("allreduce", 0, 0, (1e6,), 3.0),
        SmpiAction("reducescatter", 0, 0, (1e5,) * count, 3.0),
        SmpiAction("gatherv", 0, 0, (1e5,) * (count + 1)),
        SmpiAction("allgatherv", 0, 0, (1e5,) * (count + 1)),
        SmpiAction("alltoallv", 0, 0, (1e5,) * (2 * count)),
        SmpiAction("alltoall", 0, 0, (256.0,)),
    ):
        assert everybody(count, action)[1] == set(range(count)), action


@pytest.mark.parametrize(("count", "size"), [(4, 600_000.0), (16, 100.0), (17, 511.0), (31, 5.0)])
def test_an_exchange_of_all_moves_what_it_must(count: int, size: float) -> None:
    """In rounds: each rank sends at least what it has for the others."""
    machine, ended = everybody(count, SmpiAction("alltoall", 0, 0, (size,)))
    assert ended == set(range(count))
    for rank in range(count):
        sent = sum(times * amount for (source, _, amount), times in machine.sent.items() if source == rank)
        assert sent >= 2 * (count - 1) * size


@pytest.mark.parametrize(
    ("count", "size", "algorithm"),
    [
        (2, 1, "pair"), (2, 2, "linear"), (2, 4, "pair"), (2, 16, "linear"), (2, 4096, "pair"), (2, 1_048_576, "pair"),
        (5, 600_000, "pair"), (5, 1_048_576, "linear"), (8, 600_000, "linear"), (16, 3, "linear"), (16, 4, "bruck"),
        (31, 512, "linear"), (32, 0, "bruck"), (63, 512, "linear"), (64, 1023, "bruck"), (64, 262_144, "pair"),
    ],
)  # fmt: skip
def test_the_algorithm_depends_on_ranks_and_bytes(count: int, size: float, algorithm: str) -> None:
    """As SMPI selects it."""
    assert alltoall_algorithm(count, size) == algorithm


def test_large_messages_towards_each_other_never_end() -> None:
    """Each rank waits for the other to receive."""
    first = [SmpiAction("send", 1, 0, (100_000.0,)), SmpiAction("recv", 1, 0, (100_000.0,))]
    second = [SmpiAction("send", 0, 0, (100_000.0,)), SmpiAction("recv", 0, 0, (100_000.0,))]
    assert run(first, second)[1] == set()
    small = [[SmpiAction(one.name, one.peer, 0, (65_535.0,)) for one in rank] for rank in (first, second)]
    assert run(*small)[1] == {0, 1}


def test_a_message_that_is_too_long_for_its_receiver_is_an_error() -> None:
    """SimGrid stops."""
    with pytest.raises(WorkloadError, match="profile p: rank 1 receives 10 bytes of the 20 that rank 0 sends"):
        run([SmpiAction("send", 1, 0, (20.0,))], [SmpiAction("recv", 0, 0, (10.0,))])
