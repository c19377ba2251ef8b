"""Lazily decoded jobs, stored as the text of their file: a hundred bytes for each instead of a thousand."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, overload

import orjson

from batsched_py.model.job import Job

#: Upper limit of the number of hosts of any machine.
_LARGEST: Final = (1 << 32) - 1

#: Builds a job from its decoded object, which has been validated.
Build = Callable[[dict[str, Any]], Job]


class PackedJobs(Sequence[Job]):
    """Jobs ordered by submission time, then id; filled with `add`, then ordered with `sort`.

    Equal to any sequence of the same jobs. Each access to a job creates a new object.
    """

    __slots__ = (
        "_build",
        "_content",
        "_end",
        "_lengths",
        "_places",
        "have_demands",
        "profiles",
        "sizes",
        "submit_times",
    )

    def __init__(self, content: bytes, build: Build) -> None:
        self._content, self._build = content, build
        #: The end of the last added job's description.
        self._end = 0
        #: For each job the offset of its object in the content, and its length in bytes.
        self._places, self._lengths = array("Q"), array("I")
        #: For each job, values available without decoding; larger sizes are stored as `_LARGEST`.
        self.submit_times = array("d")
        self.sizes = array("I")
        self.profiles: list[str] = []
        #: True if a job requests parts of hosts.
        self.have_demands = False

    def add(self, described: bytes, job: Job, profile: str) -> None:
        """Add a job with its description in the content; `profile` is a name, preferably an object shared by jobs.

        Jobs must be added in the order of the content.
        """
        self._places.append(self._content.index(described, self._end))
        self._lengths.append(len(described))
        self._end = self._places[-1] + len(described)
        self.submit_times.append(job.submit_time)
        self.sizes.append(min(job.size, _LARGEST))
        self.profiles.append(profile)
        if job.demand is not None:
            self.have_demands = True

    def mention(self, member: str) -> bool:
        """Return whether the text of the file has a member of this name, of a job or of anything else."""
        return b'"%b"' % member.encode() in self._content

    def sort(self) -> None:
        """Sort the jobs; cheap if they are already sorted."""
        times = self.submit_times
        if all(before < after for before, after in pairwise(times)):
            return
        order = sorted(range(len(times)), key=times.__getitem__)
        first = 0
        for last in range(1, len(order) + 1):
            if last == len(order) or times[order[last]] != times[order[first]]:
                if last - first > 1:
                    order[first:last] = sorted(order[first:last], key=lambda number: self[number].id)
                first = last
        for name in ("_places", "_lengths", "submit_times", "sizes"):
            column = getattr(self, name)
            setattr(self, name, array(column.typecode, (column[number] for number in order)))
        self.profiles = [self.profiles[number] for number in order]

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, position: int) -> Job: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Job, ...]: ...
    def __getitem__(self, position: int | slice) -> Job | tuple[Job, ...]:
        if isinstance(position, slice):
            return tuple(self[number] for number in range(*position.indices(len(self))))
        place = self._places[position]
        return self._build(orjson.loads(self._content[place : place + self._lengths[position]]))

    def __iter__(self) -> Iterator[Job]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(left == right for left, right in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as for lists: equality with unhashable sequences

    def __repr__(self) -> str:
        return f"PackedJobs(<{len(self)} jobs>)"
