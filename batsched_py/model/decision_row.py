"""A row of a scheduler's decisions other than starts: holds, promises, rejections, and unusable hosts."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct

from batsched_py.hostset import HostSet

#: The kind of a row; see DecisionRow.
RowKind: TypeAlias = Literal[
    "hosts", "down", "unavailable", "held", "released", "promised", "withdrawn", "rejected", "unfinished"
]
#: The kinds, in the order of the documentation.
ROW_KINDS: Final[tuple[RowKind, ...]] = (
    "hosts", "down", "unavailable", "held", "released", "promised", "withdrawn", "rejected", "unfinished",
)  # fmt: skip

#: The reason to hold a job: too few hosts are free (`hosts`); a promise would be broken (`promise`); the free hosts do
#: not suit it (`constraint`); its start is fixed in advance (`instant`); its conditions on other jobs are not fulfilled
#: (`condition`); no host has enough of a resource free (`resource`); a reason of the algorithm (`own`).
HoldKind: TypeAlias = Literal["hosts", "promise", "constraint", "instant", "condition", "resource", "own"]

#: The cause of a new promise: it is the first (`first`); jobs ended (`ends`); jobs arrived (`arrivals`); hosts failed
#: or became usable again (`failure`, `return`); another cause, such as the passage of time (`other`).
Cause: TypeAlias = Literal["first", "ends", "arrivals", "failure", "return", "other"]


class DecisionRow(Struct, frozen=True, gc=False):
    """One row. The kind determines which fields are used; the others have their defaults.

    Attributes:
        time: seconds since the start of the simulation.
        kind: `hosts` occurs once, for all compute hosts, with the reason `shared` if jobs may share them; `down` lists
            the hosts that cannot be used from now on, for a reason other than work; `unavailable` those of them that an
            external event made unavailable; all other kinds are about a job: `released` follows a `held` for its
            conditions on other jobs; `unfinished`, in the last rows, is a job that waited or ran at the end of the run.
        job: id of the job.
        start: promised start; for an `unfinished` job its actual start, None if it waited.
        reason: a HoldKind or a Cause.
        jobs: ids of the jobs that ended or arrived, or for which a job is held, at most the first ones.
        hosts: hosts of `hosts`, `down` and `unavailable`; those on which an `unfinished` job ran.
        words: text of the algorithm, for `held` and `rejected`.
        submitted, size, walltime: data of `unfinished` and `rejected` jobs, which the jobs file may lack.
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
