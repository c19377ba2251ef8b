"""The ranks of an MPI program: their messages, and the collective operations of which these are parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, Protocol

from batsched_py.errors import WorkloadError
from batsched_py.model.replay import Smpi, SmpiAction, alltoall_algorithm
from batsched_py.text.display import displayed

# The rules are those of SMPI in SimGrid 3.32 under Batsim 4.2.1, whose model of parallel tasks ignores all factors of
# SMPI, with the default algorithms of collective operations.
#
# A message of n bytes is a transfer of n + 16 bytes between the hosts of two ranks. It begins when it is sent and
# awaited: the k-th send from one rank to another with a tag meets the k-th receive. Below THRESHOLD bytes a sender goes
# on at once, from there on at the end of the transfer; a receiver always waits for the end.
#
# Quirks: `wait` and `test` do nothing, because Batsim looks for requests under other numbers than they have; what is
# open is awaited by `waitall`, and at the end of the rank the last request for each rank and tag. Ranks begin one after
# the other, and SimGrid stops if one begins with a collective operation that sends to a rank that has not begun.

#: Bytes of the header of a message; number of bytes from which a sender waits for the transfer.
HEADER: Final = 16.0
THRESHOLD: Final = 65_536
#: Tag of the messages of collective operations, which meet each other in the order of the operations.
_COLLECTIVE: Final = -1

#: Begins what a rank waits for, and calls the function at its end.
Action = Callable[[Callable[[], None]], None]


class Replaying(Protocol):
    """The execution of computations and transfers."""

    @property
    def started(self) -> int:
        """The number of ranks that have begun."""

    def compute(self, rank: int, flops: float, resume: Callable[[], None]) -> None:
        """Compute on one core of the host of a rank."""

    def sleep(self, seconds: float, resume: Callable[[], None]) -> None:
        """Wait for some seconds."""

    def transfer(self, source: int, target: int, size: float, arrive: Callable[[], None]) -> None:
        """Send bytes from one rank to another."""


class _MpiRequest:
    """A send or a receive; `size` in bytes."""

    __slots__ = ("done", "rank", "size", "waiting")

    def __init__(self, rank: int, size: float) -> None:
        self.rank, self.size, self.done = rank, size, False
        self.waiting: Callable[[], None] | None = None

    def complete(self) -> None:
        """Note that it is over."""
        self.done = True
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            waiting()


class SmpiRanks:
    """The ranks of one program, which exchange messages."""

    def __init__(self, program: Smpi, replay: Replaying) -> None:
        self._program, self._replay, self._count = program, replay, len(program.ranks)
        #: (source, target, tag) -> sends, or receives, that have not met.
        self._sends: dict[tuple[int, int, int], deque[_MpiRequest]] = {}
        self._receives: dict[tuple[int, int, int], deque[_MpiRequest]] = {}

    def programs(self) -> list[Iterator[Action]]:
        """Return what each rank does: it yields what it waits for."""
        return [self._run(rank, actions) for rank, actions in enumerate(self._program.ranks)]

    def _run(self, rank: int, actions: Sequence[SmpiAction]) -> Iterator[Action]:
        #: Open requests, in their order; the last one for each peer and tag.
        pending: list[_MpiRequest] = []
        last: dict[tuple[str, int, int], _MpiRequest] = {}
        for action in actions:
            name, peer, tag = action.name, action.peer, action.tag
            if name == "compute":
                yield partial(self._replay.compute, rank, action.amount)
            elif name == "sleep":
                yield partial(self._replay.sleep, action.amount)
            elif name in ("send", "recv"):
                post = self._send if name == "send" else self._receive
                yield from _wait([post(rank, peer, tag, action.sizes[0])])
            elif name in ("isend", "irecv"):
                post = self._send if name == "isend" else self._receive
                request = last[name, peer, tag] = post(rank, peer, tag, action.sizes[0])
                pending.append(request)
            elif name == "sendRecv":
                yield from self._exchange(rank, (peer, action.sizes[0]), (action.source, action.sizes[1]), tag)
            elif name == "waitall":
                yield from _wait(pending)
                pending, last = [], {}
            elif name in _COLLECTIVES:
                yield from _COLLECTIVES[name](self, rank, action)
        yield from _wait(last.values())

    # Messages.

    def _send(self, rank: int, target: int, tag: int, size: float) -> _MpiRequest:
        """Send a message; the request is over at once if the message is small."""
        if tag == _COLLECTIVE and target >= self._replay.started:
            rule = f"rank {rank} begins with a collective operation, and rank {target} has not begun"
            raise self._error(f"{rule}: SimGrid stops; let each rank compute first")
        request, key = _MpiRequest(rank, size), (rank, target, tag)
        if size < THRESHOLD:
            request.done = True
        receives = self._receives.get(key)
        if receives:
            self._meet(request, receives.popleft())
        else:
            self._sends.setdefault(key, deque()).append(request)
        return request

    def _receive(self, rank: int, source: int, tag: int, size: float) -> _MpiRequest:
        request, key = _MpiRequest(rank, size), (source, rank, tag)
        sends = self._sends.get(key)
        if sends:
            self._meet(sends.popleft(), request)
        else:
            self._receives.setdefault(key, deque()).append(request)
        return request

    def _meet(self, send: _MpiRequest, receive: _MpiRequest) -> None:
        if receive.size < send.size:
            rule = (
                f"rank {receive.rank} receives {receive.size:g} bytes of the {send.size:g} that rank {send.rank} sends"
            )
            raise self._error(f"{rule}: SimGrid stops")
        self._replay.transfer(send.rank, receive.rank, send.size + HEADER, partial(_arrive, send, receive))

    def _error(self, rule: str) -> WorkloadError:
        return WorkloadError(f"profile {displayed(self._program.name)}", "", rule)

    def _exchange(self, rank: int, sent: tuple[int, float], received: tuple[int, float], tag: int) -> Iterator[Action]:
        """Send to one rank, receive from another one, and wait for both."""
        requests = [self._receive(rank, received[0], tag, received[1]), self._send(rank, sent[0], tag, sent[1])]
        yield from _wait(requests)

    def _others(self, rank: int) -> list[int]:
        return [other for other in range(self._count) if other != rank]

    def _send_all(self, rank: int, targets: Iterable[int], size: Callable[[int], float]) -> list[_MpiRequest]:
        return [self._send(rank, other, _COLLECTIVE, size(other)) for other in targets]

    def _receive_all(self, rank: int, sources: Iterable[int], size: Callable[[int], float]) -> list[_MpiRequest]:
        return [self._receive(rank, other, _COLLECTIVE, size(other)) for other in sources]

    # Collective operations.

    def _barrier(self, rank: int, _: SmpiAction) -> Iterator[Action]:
        yield from self._to_root(rank, 0, lambda _: 0.0)
        yield from self._from_root(rank, 0, lambda _: 0.0)

    def _to_root(self, rank: int, root: int, size: Callable[[int], float]) -> Iterator[Action]:
        """Send to the root, which receives all messages at once; `size` is that of each rank's."""
        if rank == root:
            yield from _wait(self._receive_all(rank, self._others(root), size))
        else:
            yield from _wait(self._send_all(rank, [root], lambda _: size(rank)))

    def _from_root(self, rank: int, root: int, size: Callable[[int], float]) -> Iterator[Action]:
        """Receive from the root, which sends all messages at once."""
        if rank == root:
            yield from _wait(self._send_all(rank, self._others(root), size))
        else:
            yield from _wait(self._receive_all(rank, [root], lambda _: size(rank)))

    def _bcast(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        """Receive and pass on along a binomial tree."""
        root, size, count = action.peer, action.sizes[0], self._count
        place, mask = (rank - root) % count, 1
        while mask < count:
            if place & mask:
                yield from _wait([self._receive(rank, (rank - mask) % count, _COLLECTIVE, size)])
                break
            mask *= 2
        mask //= 2
        while mask:
            if place + mask < count:
                yield from _wait([self._send(rank, (rank + mask) % count, _COLLECTIVE, size)])
            mask //= 2

    def _reduce(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._to_root(rank, action.peer, lambda _: action.sizes[0])
        yield partial(self._replay.compute, rank, action.amount)

    def _allreduce(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._to_root(rank, 0, lambda _: action.sizes[0])
        yield from self._bcast(rank, action)
        yield partial(self._replay.compute, rank, action.amount)

    def _gather(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._to_root(rank, action.peer, lambda _: action.sizes[0])

    def _gatherv(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        own, counts = action.sizes[0], action.sizes[1:]
        yield from self._to_root(rank, action.peer, lambda other: own if other == rank else counts[other])

    def _scatter(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._from_root(rank, action.peer, lambda _: action.sizes[0])

    def _scatterv(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._from_root(rank, action.peer, lambda other: action.sizes[other])

    def _reducescatter(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._to_root(rank, 0, lambda _: sum(action.sizes))
        yield from self._from_root(rank, 0, lambda other: action.sizes[other])
        yield partial(self._replay.compute, rank, action.amount)

    def _all_pairs(self, rank: int, sent: Callable[[int], float], received: Callable[[int], float]) -> Iterator[Action]:
        others = self._others(rank)
        yield from _wait([*self._receive_all(rank, others, received), *self._send_all(rank, others, sent)])

    def _allgather(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._all_pairs(rank, lambda _: action.sizes[0], lambda _: action.sizes[0])

    def _allgatherv(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        yield from self._all_pairs(rank, lambda _: action.sizes[0], lambda other: action.sizes[1 + other])

    def _alltoallv(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        sent, received = action.sizes[: self._count], action.sizes[self._count :]
        yield from self._all_pairs(rank, sent.__getitem__, received.__getitem__)

    def _scan(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        size = action.sizes[0]
        received = self._receive_all(rank, range(rank), lambda _: size)
        yield from _wait([*received, *self._send_all(rank, range(rank + 1, self._count), lambda _: size)])
        yield partial(self._replay.compute, rank, action.amount)

    def _alltoall(self, rank: int, action: SmpiAction) -> Iterator[Action]:
        """Exchange with all, by the algorithm that SMPI selects by the number of ranks and of bytes for each pair."""
        size, count = action.sizes[0], self._count
        match alltoall_algorithm(count, size):
            case "pair":
                for step in range(1, count):
                    yield from self._exchange(rank, (rank ^ step, size), (rank ^ step, size), _COLLECTIVE)
            case "bruck":
                step = 1
                while step < count:
                    blocks = sum(1 for block in range(1, count) if block & step)
                    ends = (rank + step) % count, (rank - step) % count
                    yield from self._exchange(rank, (ends[0], size * blocks), (ends[1], size * blocks), _COLLECTIVE)
                    step *= 2
            case _:
                yield from self._allgather(rank, action)


def _arrive(send: _MpiRequest, receive: _MpiRequest) -> None:
    receive.complete()
    if not send.done:
        send.complete()


def _wait(requests: Iterable[_MpiRequest]) -> Iterator[Action]:
    """Yield what waits for all requests, unless they are over."""
    for request in requests:
        if not request.done:
            yield partial(setattr, request, "waiting")


#: Collective operation -> its messages and computations for one rank.
_COLLECTIVES: Final[dict[str, Callable[[SmpiRanks, int, SmpiAction], Iterator[Action]]]] = {
    "barrier": SmpiRanks._barrier,
    "bcast": SmpiRanks._bcast,
    "reduce": SmpiRanks._reduce,
    "allreduce": SmpiRanks._allreduce,
    "gather": SmpiRanks._gather,
    "gatherv": SmpiRanks._gatherv,
    "scatter": SmpiRanks._scatter,
    "scatterv": SmpiRanks._scatterv,
    "reducescatter": SmpiRanks._reducescatter,
    "allgather": SmpiRanks._allgather,
    "allgatherv": SmpiRanks._allgatherv,
    "alltoall": SmpiRanks._alltoall,
    "alltoallv": SmpiRanks._alltoallv,
    "scan": SmpiRanks._scan,
    "exscan": SmpiRanks._scan,
}
