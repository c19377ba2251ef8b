"""Warnings about orders for which SimGrid's solver may not terminate, issued before Batsim receives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.loopback_transfers import sends_within_host
from batsched_py.model.profile import Composed, Profile, parse_profile
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.reading.faults import FieldError
from batsched_py.state.state import State
from batsched_py.text.display import displayed

#: The end of a warning, after the description of the order.
MAY_NOT_END: Final = "there SimGrid 3.32, 3.34 and 4.0 may never end, at the link from the host to itself"


class EndlessTasks:
    """Warnings about the first order of each kind: executors of one task or of several tasks share a loopback link."""

    def __init__(self, state: State, warn: Callable[[str], None]) -> None:
        self._state, self._warn = state, warn
        #: Kinds for which a warning was issued.
        self._reported: set[str] = set()
        #: Id -> hosts (bits) of started jobs that may still run and send data from a host to itself.
        self._senders: dict[str, int] = {}

    def __call__(self, job: Job, command: ExecuteJob) -> None:
        """Check an order that names the host of each executor, or that may share hosts with other jobs."""
        for profile, executors in self._placements(job, command):
            doubled = len(set(executors)) < len(executors)
            if profile is None:
                if doubled:
                    self._warn_once(job, "puts executors on one host; if they communicate,")
            elif sends_within_host(profile, executors):
                if doubled:
                    self._warn_once(job, "puts executors that communicate on one host:")
                self._add_sender(job, command.hosts.bits)

    def _placements(self, job: Job, command: ExecuteJob) -> Iterator[tuple[Profile | None, Sequence[int]]]:
        """Yield each task of the job, None if it is unknown, and the host of each of its executors."""
        own = {placed.name: _executors(placed.hosts, placed.mapping, job.size) for placed in command.overrides}
        executors = _executors(command.hosts, command.mapping, job.size)
        waiting, seen = [job.profile], {job.profile}
        for name in waiting:  # the list grows
            members = self._state.profiles.members(job.workload, name)
            try:
                profile = None if members is None else parse_profile(name, members)
            except FieldError:
                continue
            if isinstance(profile, Composed):
                waiting += [part for part in profile.parts if part not in seen]
                seen.update(profile.parts)
            else:
                yield profile, own.get(name, executors)

    def _add_sender(self, job: Job, hosts: int) -> None:
        running = self._state.running
        self._senders = {job_id: bits for job_id, bits in self._senders.items() if job_id in running}
        if any(bits & hosts for job_id, bits in self._senders.items() if job_id != job.id):
            self._warn_once(job, "shares a host with a job, and both send from it to itself:")
        self._senders[job.id] = hosts

    def _warn_once(self, job: Job, what: str) -> None:
        if what not in self._reported:
            self._reported.add(what)
            self._warn(f"{displayed(job.id)} {what} {MAY_NOT_END}")


def _executors(hosts: HostSet, mapping: Mapping[int, int] | None, size: int) -> Sequence[int]:
    """Return the host of each executor; without a mapping, executors are placed round-robin."""
    numbers = list(hosts)
    if mapping:
        return [numbers[mapping[executor]] for executor in range(len(mapping))]
    return [numbers[executor % len(numbers)] for executor in range(size)]
