"""A row of what a scheduler decided beside starts: holds, promises, rejections, and the hosts it could not use."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct

from batsched_py.hostset import HostSet

#: What a row tells; see DecisionRow.
RowKind: TypeAlias = Literal["hosts", "down", "unavailable", "held", "promised", "withdrawn", "rejected", "unfinished"]
#: The kinds, in the order in which documents list them.
ROW_KINDS: Final[tuple[RowKind, ...]] = (
    "hosts", "down", "unavailable", "held", "promised", "withdrawn", "rejected", "unfinished",
)  # fmt: skip

#: Why a job is held: too few hosts are free (`hosts`); a promise would be broken (`promise`); the free hosts do not
#: suit it (`constraint`); it has a start in advance (`instant`); the algorithm has a reason of its own (`own`).
HoldKind: TypeAlias = Literal["hosts", "promise", "constraint", "instant", "own"]

#: Why a promise is another one now: it is the first (`first`); jobs ended (`ends`); jobs arrived (`arrivals`); hosts
#: failed or became usable again (`failure`, `return`); something else, such as time that passed (`other`).
Cause: TypeAlias = Literal["first", "ends", "arrivals", "failure", "return", "other"]


class DecisionRow(Struct, frozen=True, gc=False):
    """One row. Which fields have a meaning depends on the kind; the others have their defaults.

    Attributes:
        time: seconds since the start of the simulation.
        kind: `hosts` tells all compute hosts, once, and `shared` as its reason if jobs may share them; `down` those
            that can take no job from now on, for a reason other than work; `unavailable` those of them that
            an external event took away; the others tell of a job: `unfinished`, in the last rows, that it waited or
            ran when the run ended.
        job: id of the job.
        start: the start that was promised; of an `unfinished` job its own, None if it waited.
        reason: a HoldKind or a Cause.
        jobs: ids of the jobs that ended or arrived, the first ones if they are many.
        hosts: of `hosts`, `down` and `unavailable`; those on which an `unfinished` job ran.
        words: the algorithm's own, of `held` and `rejected`.
        submitted, size, walltime: of `unfinished` and `rejected`, whose jobs the jobs file may lack.
    """

    time: float
    kind: RowKind
    job: str = ""
    start: float | None = None
    reason: str = ""
    jobs: tuple[str, ...] = ()
    hosts: HostSet = HostSet()
    words: str = ""
    submitted: float | None = None
    size: int | None = None
    walltime: float | None = None
