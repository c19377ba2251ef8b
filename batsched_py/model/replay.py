"""Profiles that replay a trace: what each rank of a job does, one action after the other."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.model.profile import Profile

#: Job member with the position of a host of the job for each rank.
RANKS_TO_HOSTS = "smpi_ranks_to_hosts_mapping"


class UsageStep(Struct, frozen=True):
    """A computation on a share of a host.

    Attributes:
        usage: share of the cores of the host, from 0 to 1.
        flops: work of each core that is used.
    """

    usage: float
    flops: float


class UsageTrace(Profile, frozen=True):
    """Steps of computation of each rank, `ranks[r]`."""

    ranks: tuple[tuple[UsageStep, ...], ...]


class SmpiAction(Struct, frozen=True):
    """An MPI call, or a computation.

    Attributes:
        name: the action, as in the trace.
        peer: the other rank of a message, the root of a collective operation, or -1.
        tag: of a message.
        sizes: bytes: of the message; of what each rank sends; of what is sent to, or received from, each rank.
        amount: flops, or seconds of a sleep.
        source: the rank from which sendRecv receives.
    """

    name: str
    peer: int = -1
    tag: int = 0
    sizes: tuple[float, ...] = ()
    amount: float = 0.0
    source: int = -1


class Smpi(Profile, frozen=True):
    """MPI calls and computations of each rank, `ranks[r]`."""

    ranks: tuple[tuple[SmpiAction, ...], ...]


def alltoall_algorithm(count: int, size: float) -> str:
    """Return SMPI's choice for a number of ranks and of bytes for each pair: pair, bruck or linear.

    Source: the selection of algorithms "default" of SimGrid 3.32.
    """
    if count == 2:
        in_pairs = size < 2 or 4 <= size < 16 or 64 <= size < 256 or 4096 <= size < 32768 or size >= 1_048_576
    elif count < 8:
        in_pairs = 524_288 <= size < 1_048_576
    else:
        in_pairs = count >= 64 and size >= 262_144
    if in_pairs:
        return "pair"
    smallest, largest = (4, 512) if 16 <= count < 32 else (0, 512 if 32 <= count < 64 else 1024)
    return "bruck" if count >= 16 and smallest <= size < largest else "linear"
