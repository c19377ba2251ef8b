"""Edge cases, which are rarely drawn at random, and crowded cases."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final, get_args

from msgspec.structs import replace

from batsched_py.testing.case import Case, JobSpec, Peer

#: Number of jobs of a crowded case, and of a burst.
CROWD: Final = 40
BURST: Final = 60


def edges(hosts: int) -> Iterator[Case]:
    """Yield cases without jobs, with one host, bursts, jobs that never fit, failures of all hosts; with every peer."""
    everything = f"0-{hosts - 1}" if hosts > 1 else "0"
    for case in (
        Case(hosts=hosts),
        Case(hosts=1),
        Case(hosts=1, jobs=((0, 1, 3, 5), (0, 1, 5, 5), (0, 1, 1, 1), (2, 1, 9, 4), (3, 2, 1, 1))),
        Case(hosts=hosts, jobs=((0, hosts, 3, 5), (0, hosts, 5, 5), (8, hosts, 9, 4))),
        Case(hosts=hosts, jobs=((0, hosts + 1, 1, 1), (5, 10 * hosts, 1, None))),
        Case(hosts=hosts, jobs=((0, hosts, 5, None), (0, 1, 5, None), (1, hosts, 5, None), (1, 1, 20, None))),
        Case(hosts=hosts, jobs=_burst(hosts)),
        Case(hosts=hosts, jobs=((0, hosts, 5, 9), (1, 1, 5, 9), (5, 1, 1, 9)), outages=((1, everything, 5),)),
        Case(hosts=hosts, jobs=((0, hosts, 5, 9), (1, 1, 5, 9), (2, hosts, 1, 9)), outages=((1, everything, None),)),
        Case(hosts=hosts, jobs=((1, 1, 2, 9), (1, hosts, 2, 9), (1, 1, 2, 9)), outages=((0, "0", None),)),
        Case(hosts=hosts, jobs=((0, 1, 5, 9), (5, hosts, 5, 9), (10, hosts, 5, 9)), outages=((5, "0", 10),)),
    ):
        for peer in get_args(Peer):
            yield replace(case, peer=peer)


def crowded(hosts: int) -> Iterator[Case]:
    """Yield a crowded case for each peer."""
    for seed, peer in enumerate(get_args(Peer)):
        yield crowd(hosts, peer, seed)


def crowd(hosts: int, peer: Peer, seed: int) -> Case:
    """Return a case with more jobs than hosts for most of the time, some of them equal."""
    chance = Random(seed)
    jobs = tuple(_drawn(chance, hosts) for _ in range(CROWD))
    return Case(hosts=hosts, jobs=jobs, outages=((chance.randrange(30), "0", 60),), peer=peer, seed=seed)


def _burst(hosts: int) -> tuple[JobSpec, ...]:
    """Return jobs submitted at once; each second one ends early, each fifth at its walltime."""
    return tuple(
        (0, 1 + number % hosts, 1 + number % 4, 4 if number % 5 else 1 + number % 2) for number in range(BURST)
    )


def _drawn(chance: Random, hosts: int) -> JobSpec:
    run = chance.randint(1, 12)
    return chance.randint(0, 30), chance.randint(1, hosts), run, chance.choice((None, run, run + 1, 3 * run))
