"""The jobs that wait, in order of arrival, in pieces that a scan can skip."""

from __future__ import annotations

from collections.abc import Iterator

from batsched_py.model.job import Job

#: Jobs per piece: small enough to look through, large enough that a queue of thousands has few pieces.
PIECE_SIZE = 64


class Piece:
    """Consecutive jobs of the queue and the smallest size among them."""

    __slots__ = ("filled", "jobs", "min_size")

    def __init__(self) -> None:
        #: Job id -> job, in order of arrival; never empty while the piece is in a queue.
        self.jobs: dict[str, Job] = {}
        #: Jobs ever put in; a piece that has had PIECE_SIZE takes no more.
        self.filled = 0
        #: Smallest `size` of the jobs.
        self.min_size = 0

    def add(self, job: Job) -> None:
        """Put a job at the end."""
        self.min_size = job.size if not self.jobs else min(self.min_size, job.size)
        self.jobs[job.id] = job
        self.filled += 1

    def remove(self, job: Job) -> None:
        """Take a job out; the smallest size is found anew if it was the smallest."""
        del self.jobs[job.id]
        if job.size == self.min_size and self.jobs:
            self.min_size = min([waiting.size for waiting in self.jobs.values()])


class Queue:
    """Waiting jobs in order of arrival. It may change while it is iterated: a job that left is then not visited."""

    __slots__ = ("_pieces", "_where")

    def __init__(self) -> None:
        #: In order of arrival; no piece is empty.
        self._pieces: list[Piece] = []
        #: Job id -> the piece it is in.
        self._where: dict[str, Piece] = {}

    def add(self, job: Job) -> None:
        """Put a job at the end."""
        pieces = self._pieces
        if not pieces or pieces[-1].filled >= PIECE_SIZE:
            pieces.append(Piece())
        pieces[-1].add(job)
        self._where[job.id] = pieces[-1]

    def remove(self, job_id: str) -> Job:
        """Take a job out, wherever it stands; KeyError if it does not wait."""
        piece = self._where.pop(job_id)
        job = piece.jobs[job_id]
        piece.remove(job)
        if not piece.jobs:
            self._pieces.remove(piece)
        return job

    def first(self) -> Job | None:
        """The job that has waited longest."""
        return next(iter(self._pieces[0].jobs.values())) if self._pieces else None

    def get(self, job_id: str) -> Job | None:
        """The waiting job of this id."""
        piece = self._where.get(job_id)
        return None if piece is None else piece.jobs[job_id]

    def up_to(self, size: int) -> Iterator[Job]:
        """The waiting jobs of at most `size` hosts, in order of arrival, without a look at pieces that have none."""
        for piece in tuple(self._pieces):
            if piece.min_size <= size:
                yield from [job for job in piece.jobs.values() if job.size <= size]

    def __iter__(self) -> Iterator[Job]:
        for piece in tuple(self._pieces):
            for job in tuple(piece.jobs.values()):
                if job.id in piece.jobs:
                    yield job

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._where
