"""Jobs of workloads as submissions to the controller: their names, arrays and dependencies.

The controller knows jobs by keys and by numbers, which dependencies name. A job that depends on one that was not
submitted yet is submitted after that one, as no number exists before.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final, NamedTuple

from msgspec import structs

from batsched_py.errors import OptionError, SlurmRefusalError
from batsched_py.model.conditions import Conditions, Dependency, conditions_in, has_conditions
from batsched_py.model.job import Job
from batsched_py.model.recorded_wait import RECORDED_WAIT
from batsched_py.reading.faults import FieldError
from batsched_py.slurm.adapter.files import TimedCommand
from batsched_py.slurm.controller import SlurmController
from batsched_py.slurm.decisions import Decision
from batsched_py.slurm.job_member import MEMBER, SlurmMember, read_member
from batsched_py.slurm.job_request import job_request
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.text.display import displayed

#: State that another job must reach -> Slurm's kind of dependency.
_KINDS: Final = {"start": "after", "end": "afterany", "success": "afterok", "failure": "afternotok"}
_REFERENCE: Final = re.compile(r"(.+?)(\+\d{1,6})?")
_RESIZED: Final = re.compile(r"\bnumnodes=(\S*)", re.IGNORECASE)
_JOB: Final = re.compile(r"\bjobid=(\d{1,9})\b", re.IGNORECASE)
_NAMED: Final = re.compile(r"\{([^{}]+)\}")
#: Members of a job that the tasks of an array need not share, or that are compared by their meaning.
_OWN_MEMBERS: Final = frozenset({"id", "profile", "subtime", MEMBER, RECORDED_WAIT})
#: The number of jobs that were refused.
_REFUSED: Final = 0


class Refusal(NamedTuple):
    """A job that cannot be submitted, and the reason."""

    job: Job
    why: str


class _Wanted(NamedTuple):
    """A job that is to be submitted, with its members as they were read."""

    job: Job
    member: SlurmMember
    conditions: Conditions


class _NotYetError(Exception):
    """A job depends on one that was not submitted; the argument is the id of that one."""


#: The workload and the id of a job, or those of its array.
_PartyKey = tuple[str, str, bool]


class _WaitingParty(NamedTuple):
    """Jobs that wait together, and their place in the order of submission."""

    place: int
    jobs: list[_Wanted]


class JobSubmissions:
    """The submissions of one run."""

    def __init__(self, controller: SlurmController, *, stops_at_strangers: bool, dump: str) -> None:
        self._controller = controller
        self._stops_at_strangers, self._dump = stops_at_strangers, dump
        #: Id of each submitted job -> its number, which is that of its array for a task; 0 if it was refused.
        self._numbers: dict[str, int] = {}
        #: Number of each submitted job with whole hosts -> how many.
        self._whole: dict[int, int] = {}
        #: Key of the controller, and id in the workload -> the job that was submitted.
        self.by_key: dict[str, SlurmJob] = {}
        self.by_id: dict[str, SlurmJob] = {}
        #: Jobs that depend on others which were not submitted yet, alone or with their array; and the ids of the jobs.
        self._waiting: dict[_PartyKey, _WaitingParty] = {}
        self._waiting_ids: dict[str, _PartyKey] = {}
        self._newly_waiting: list[Job] = []
        self._places = count()
        #: Id of a job that was not submitted yet -> those that wait for it; and those that wait for none any more.
        self._waiting_for: dict[str, dict[_PartyKey, None]] = {}
        self._ready: dict[_PartyKey, None] = {}
        #: User and name of singletons -> the submitted jobs that may not have ended.
        self._singletons: dict[tuple[str, str], list[SlurmJob]] = {}

    @property
    def waiting(self) -> Iterable[Job]:
        """Jobs that depend on others which were not submitted yet."""
        return [one.job for party in self._waiting.values() for one in party.jobs]

    @property
    def has_waiting(self) -> bool:
        """Is there a job that depends on one which was not submitted yet?"""
        return bool(self._waiting)

    def take_newly_waiting(self) -> Sequence[Job]:
        """Return the jobs that depend on others which were not submitted yet, each once."""
        found, self._newly_waiting = self._newly_waiting, []
        return [job for job in found if job.id in self._waiting_ids]

    def forget(self, job_id: str) -> bool:
        """Forget a job that waits for the submission of another; return False if it does not."""
        key = self._waiting_ids.pop(job_id, None)
        if key is None:
            return False
        jobs = self._waiting[key].jobs
        jobs[:] = [one for one in jobs if one.job.id != job_id]
        if not jobs:
            del self._waiting[key]
        self._note(job_id, _REFUSED)
        return True

    def _note(self, job_id: str, number: int) -> None:
        """Note the number of a job or an array; those that wait for it can be tried again."""
        self._numbers[job_id] = number
        self._ready.update(self._waiting_for.pop(job_id, ()))

    def submit(self, jobs: Sequence[Job], now: float) -> Iterator[tuple[Job, SlurmJob] | Refusal]:
        """Submit jobs of one instant; yield each with what the controller makes of it, or a refusal.

        OptionError for a user without an association, if the run is to end then.
        """
        for party in self._parties(jobs):
            if isinstance(party, Refusal):
                yield self._refused(party)
                continue
            yield from self._submit(party, now)
        if self._ready and jobs:
            yield from self._submit_waiting(now)

    def command(self, command: TimedCommand, now: float) -> tuple[list[Decision], str]:
        """Run a command; return its decisions, and the fault for which it is refused, or ""."""
        try:
            text = self._filled(command.text)
            self._check_size(text)
            return self._controller.action(text, now), ""
        except (SlurmRefusalError, ValueError) as error:
            return [], str(error)

    def _filled(self, command: str) -> str:
        """Return a command with the numbers of jobs for their names in braces; ValueError for one that is unknown."""

        def number(match: re.Match[str]) -> str:
            name = match[1] if "!" in match[1] else f"w0!{match[1]}"
            if not self._numbers.get(name):
                raise ValueError(f"{displayed(match[1])} was not submitted before")
            return str(self._numbers[name])

        return _NAMED.sub(number, command)

    def _check_size(self, command: str) -> None:
        """Refuse another number of nodes for a job with whole hosts: Batsim starts it on `res` of them."""
        wanted, number = _RESIZED.search(command), _JOB.search(command)
        size = self._whole.get(int(number[1])) if wanted and number else None
        if size is not None and wanted is not None and wanted[1] != str(size):
            raise ValueError(f"numnodes must be {size}, as the member res says: Batsim starts the job on as many hosts")

    def _submit_waiting(self, now: float) -> Iterator[tuple[Job, SlurmJob] | Refusal]:
        """Submit the jobs that waited for others, in rounds over all of them, until no more can be."""
        rounds: list[tuple[int, int, _PartyKey]] = []
        here = last = 0
        while self._ready or rounds:
            for key in [key for key in self._ready if key in self._waiting]:
                place = self._waiting[key].place
                heapq.heappush(rounds, (here + (place < last), place, key))
            self._ready.clear()
            if not rounds:
                return
            here, last, key = heapq.heappop(rounds)
            party = self._waiting.pop(key)
            for one in party.jobs:
                del self._waiting_ids[one.job.id]
            yield from self._submit(party.jobs, now, party.place)

    def _wait(self, party: list[_Wanted], missing: str, place: int | None) -> None:
        """Let jobs wait for the submission of another one."""
        first = party[0]
        array = first.conditions.array
        key = (first.job.workload, first.job.id if array is None else array.id, array is None)
        if key not in self._waiting:
            self._waiting[key] = _WaitingParty(next(self._places) if place is None else place, [])
        self._waiting[key].jobs.extend(party)
        if place is None:
            self._newly_waiting += [one.job for one in party]
        self._waiting_ids.update((one.job.id, key) for one in party)
        self._waiting_for.setdefault(missing, {})[key] = None

    def _parties(self, jobs: Sequence[Job]) -> list[list[_Wanted] | Refusal]:
        """Return the jobs that are submitted together: tasks of an array, all others alone."""
        parties: list[list[_Wanted] | Refusal] = []
        arrays: dict[tuple[str, str], list[_Wanted]] = {}
        for job in jobs:
            try:
                conditions = conditions_in(job.members) if has_conditions(job) else Conditions()
                wanted = _Wanted(job, read_member(job.members), conditions)
                _check_conditions(wanted)
            except FieldError as error:
                parties.append(Refusal(job, str(error)))
                continue
            if conditions.array is None:
                parties.append([wanted])
                continue
            party = arrays.setdefault((job.workload, conditions.array.id), [])
            if not party:
                parties.append(party)
            party.append(wanted)
        return parties

    def _submit(
        self, party: list[_Wanted], now: float, place: int | None = None
    ) -> Iterator[tuple[Job, SlurmJob] | Refusal]:
        party = sorted(party, key=_task_number)  # jobs of one instant arrive in the order of their names
        first = party[0]
        limit = None if first.conditions.array is None else first.conditions.array.limit
        try:
            self._check_memory(first.job)
            dependency = self._dependency(first)
            request = job_request(first.job, first.member, now=now, dependency=dependency, array_limit=limit)
            if len(party) > 1 or first.member.array_task is not None:
                request = replace(request, array=_tasks(party))
            self._check_association(first.job, request.user, request.account)
            number = self._controller.submit(request, now)
        except _NotYetError as error:
            self._wait(party, str(error), place)
            return
        except (FieldError, SlurmRefusalError) as error:
            for one in party:
                yield self._refused(Refusal(one.job, str(error)))
            return
        made = self._controller.cluster.jobs[number]
        if first.job.demand is None:
            self._whole[number] = first.job.size
        for one, job in zip(party, made, strict=True):
            self._note(one.job.id, number)
            array = one.conditions.array
            if array is not None and (name := f"{one.job.workload}!{array.id}") not in self._numbers:
                self._note(name, number)
            self.by_key[job.key] = self.by_id[one.job.id] = job
            if name := _singleton(one):
                self._singletons.setdefault((job.request.user, name), []).append(job)
            yield one.job, job

    def _refused(self, refusal: Refusal) -> Refusal:
        self._note(refusal.job.id, _REFUSED)
        return refusal

    def _check_memory(self, job: Job) -> None:
        """Refuse memory that only the hosts count: a start that is decided could wait for it."""
        if job.demand is not None and job.demand.task.memory and not self._controller.cluster.configuration.cr_memory:
            rule = "is not counted: SelectTypeParameters must count memory, as CR_Core_Memory does"
            raise FieldError("demand.memory", rule)

    def _check_association(self, job: Job, user: str, account: str | None) -> None:
        cluster = self._controller.cluster
        if not self._stops_at_strangers or not cluster.configuration.accounting:
            return
        if "associations" not in cluster.configuration.enforce or cluster.accounts.association(user, account):
            return
        place = f"user {displayed(user)}" + (f" with account {displayed(account)}" if account else "")
        rule = "AccountingStorageEnforce requires one, or the option strangers=refuse"
        raise OptionError(f"{self._dump}: {displayed(job.id)}: {place} has no association: {rule}")

    def _dependency(self, wanted: _Wanted) -> str:
        """Return the dependency of a job with numbers; _NotYetError, FieldError."""
        text, conditions = wanted.member.dependency, wanted.conditions
        if text and conditions.depends_on:
            raise FieldError(f"{MEMBER}.dependency", "cannot be combined with depends_on")
        parts = [part for one in conditions.depends_on if (part := self._part(wanted.job, one))]
        if text:
            separator = "?" if "?" in text else ","
            found = [self._translated(wanted, part) for part in text.split(separator) if part != "singleton"]
            if separator == "?" and "" in found:
                return ""  # one of the alternatives is fulfilled
            parts = [separator.join(filter(None, found))] if any(found) else []
        if name := _singleton(wanted):
            before = self._singletons.get((wanted.job.user or "root", name), [])
            before[:] = [one for one in before if one.ended is None]
            parts += [f"afterany:{one.id}" for one in before]
        return ",".join(parts)

    def _part(self, job: Job, one: Dependency) -> str:
        if one.delay and (one.when != "start" or one.delay % 60):
            raise FieldError("depends_on.delay", "must be whole minutes after a start: Slurm knows no other delays")
        number = self._number(one.id(job.workload), _KINDS[one.when])
        delay = f"+{int(one.delay) // 60}" if one.delay else ""
        return f"{_KINDS[one.when]}:{number}{delay}" if number else ""

    def _translated(self, wanted: _Wanted, part: str) -> str:
        """Return one part of the text of a dependency with numbers for names; "" if it is fulfilled."""
        kind, _, references = part.partition(":")
        numbers = []
        for reference in references.split(":"):
            match = _REFERENCE.fullmatch(reference)
            if match is None:
                raise FieldError(f"{MEMBER}.dependency", "must have parts KIND:NAME, such as afterok:prepare")
            if match[2] and kind != "after":
                raise FieldError(f"{MEMBER}.dependency", f"can have minutes ({match[2]}) with the kind after only")
            name = match[1] if "!" in match[1] else f"{wanted.job.workload}!{match[1]}"
            if number := self._number(name, kind):
                numbers.append(f"{number}{match[2] or ''}")
        return f"{kind}:{':'.join(numbers)}" if numbers else ""

    def _number(self, job_id: str, kind: str) -> int:
        """Return the number of another job; 0 if it was refused, which fulfils this kind of dependency."""
        if job_id not in self._numbers:
            raise _NotYetError(job_id)
        number = self._numbers[job_id]
        if number == _REFUSED and kind in {"afterok", "aftercorr"}:
            raise SlurmRefusalError(f"depends on the success of {displayed(job_id)}, which was refused")
        return number


def _check_conditions(wanted: _Wanted) -> None:
    """Raise FieldError for an option that the other members of the job leave without effect."""
    member, conditions = wanted.member, wanted.conditions
    if member.array_task is not None and conditions.array is None:
        raise FieldError(f"{MEMBER}.array_task", "must be with the member array")
    if "?" in member.dependency and conditions.singleton is not None:
        raise FieldError(f"{MEMBER}.dependency", "cannot have alternatives (?) with the member singleton")


def _singleton(wanted: _Wanted) -> str:
    """Return the name among whose jobs of the user it is alone; "" if it need not be."""
    if wanted.conditions.singleton is not None:
        return wanted.conditions.singleton
    parts = re.split("[,?]", wanted.member.dependency)
    return wanted.member.job_name if "singleton" in parts else ""


def _plain(wanted: _Wanted) -> tuple[object, ...]:
    """Return all of a task that the array must share."""
    job = wanted.job
    kept = {name: value for name, value in job.members.items() if name not in _OWN_MEMBERS}
    return kept, structs.replace(wanted.member, array_task=None), job.size


def _task_number(wanted: _Wanted) -> int:
    return wanted.member.array_task or 0


def _tasks(party: Sequence[_Wanted]) -> tuple[int, ...]:
    """Return the numbers of tasks: their own, or by their order. FieldError if they cannot be one array."""
    if any(_plain(other) != _plain(party[0]) for other in party[1:]):
        raise FieldError("array", "must have tasks that differ only in name and profile")
    named = [one.member.array_task for one in party]
    if all(number is None for number in named):
        return tuple(range(len(party)))
    numbers = tuple(number for number in named if number is not None)
    if len(set(numbers)) < len(party):
        raise FieldError(f"{MEMBER}.array_task", "must be given for all tasks of an array, or none, each once")
    return numbers
