"""Requests for the sample of several runs: two traces of best-effort leases, and two injections of reservations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from batsched_py.model.lease_terms import NodeSet
from batsched_py.model.resources import CPU, MEMORY
from batsched_py.traces.lease_request import LeaseRequest, LeaseTrace
from batsched_py.traces.lwf import lwf_text

#: The folder of the sample in which they are.
FOLDER: Final = "traces"
#: Number of requests of a trace; the cycles of sizes of leases and of their durations, in minutes.
_REQUESTS: Final = 40
_SIZES: Final = (1, 2, 1, 3, 1, 4, 2)
_MINUTES: Final = (30, 60, 20, 90, 45)
#: Percent of its duration after which a lease ends.
_SHARES: Final = (100, 60, 85, 40)
#: Seconds between two requests.
_BETWEEN: Final = 1500
#: Seconds between reservations of the injections, and their numbers of nodes.
_RESERVATIONS: Final = {"inj1": (9000, 2), "inj2": (5400, 4)}


def sample_traces() -> dict[str, str]:
    """Return the files by their names in the configuration of several runs."""
    found = {
        "withprematureend": _best_effort(early=True),
        "withoutprematureend": _best_effort(early=False),
        **{name: _reservations(every, size) for name, (every, size) in _RESERVATIONS.items()},
    }
    return {f"{FOLDER}/{name}.lwf": _text(name, requests) for name, requests in found.items()}


def _text(name: str, requests: Iterable[LeaseRequest]) -> str:
    return lwf_text(LeaseTrace(f"{name}.lwf", tuple(requests), None, name))


def _best_effort(*, early: bool) -> Iterator[LeaseRequest]:
    """Yield leases that start as soon as they can; some end before their time."""
    for number in range(_REQUESTS):
        seconds = 60 * _MINUTES[number % len(_MINUTES)]
        real = seconds * _SHARES[number % len(_SHARES)] // 100 if early else None
        yield LeaseRequest(number * _BETWEEN, seconds, _nodes(_SIZES[number % len(_SIZES)]), real=real)


def _reservations(every: int, size: int) -> Iterator[LeaseRequest]:
    """Yield reservations of half an hour, each asked for an hour before."""
    for start in range(every, _REQUESTS * _BETWEEN, every):
        yield LeaseRequest(start - 3600, 1800, _nodes(size), start=start, preemptible=False)


def _nodes(number: int) -> tuple[NodeSet, ...]:
    return (NodeSet(number, {CPU: 100, MEMORY: 1024}),)
