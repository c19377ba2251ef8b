"""The View, an algorithm's input: a read-only view of the state that is always up to date."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from batsched_py.hostset import HostSet
from batsched_py.model.host_capacities import machine_licences
from batsched_py.model.host_room import HostRoom
from batsched_py.model.job import Job
from batsched_py.model.profile import FORMER_NAMES, FORMER_TYPES, Profile, parse_profile
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.planning.task_packing import Pack, Packer
from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.events import Config, Members, Progress
from batsched_py.reading.faults import FieldError
from batsched_py.scheduling.arguments import Text, id_of, id_text
from batsched_py.scheduling.later_rooms import later_places
from batsched_py.scheduling.remainder import remainder
from batsched_py.scheduling.shortages import Shortages
from batsched_py.scheduling.task_placer import TaskPlacer
from batsched_py.state.host import Host
from batsched_py.state.profiles import ProfileStatus
from batsched_py.state.queue import Queue
from batsched_py.state.rooms import Rooms
from batsched_py.state.running import Running
from batsched_py.state.state import State


class View:
    """The simulation as the decision process knows it. Verbs of the Plan take effect here immediately."""

    __slots__ = ("_availability", "_shortages", "_state")

    def __init__(self, state: State) -> None:
        self._state = state
        self._shortages = Shortages(state)
        self._availability: Availability | None = None

    @property
    def now(self) -> float:
        """Seconds since the start of the simulation."""
        return self._state.now

    def due(self, time: float, tolerance: float = TOLERANCE) -> bool:
        """Return whether `time` has been reached, or is less than `tolerance` seconds away.

        Batsim's messages take time, so events do not happen exactly at their planned times. A job that is planned for
        an instant starts when it is due *and* its hosts are free: the end of their last job may be announced slightly
        later.
        """
        return time <= self._state.now + tolerance

    @property
    def config(self) -> Config:
        """Batsim's configuration; `config.members` also has undocumented keys."""
        return self._state.config

    @property
    def compute_sharing(self) -> bool:
        """True if several jobs may run on one host."""
        return self._state.compute_sharing

    @property
    def shares_tasks(self) -> bool:
        """True if tasks of several jobs may run on one host."""
        return self._state.shares_rooms

    @property
    def licences(self) -> Mapping[str, int]:
        """Name -> number of licences of the machine. ValueError if hosts state different numbers."""
        hosts = self._state.hosts.by_id.values()
        return machine_licences((host.properties, host.zone_properties) for host in hosts)

    @property
    def queue(self) -> Queue:
        """Waiting jobs in order of arrival; may be iterated while the plan starts jobs."""
        return self._state.queue

    @property
    def held(self) -> Mapping[str, Job]:
        """Id -> job that must not start yet, because of its conditions on other jobs, in the order of submission.

        The engine holds these jobs: they arrive in the queue once their conditions are fulfilled.
        """
        return MappingProxyType(self._state.held.jobs)

    @property
    def arrived(self) -> Sequence[Job]:
        """The jobs that were submitted or released since the last decision and still wait, in order of arrival."""
        return [job for job in self._state.arrived if job.id in self._state.queue]

    @property
    def hosts_changed(self) -> bool:
        """True if hosts became free or unavailable, woke up or fell asleep since the last decision.

        If not, jobs that could not start then cannot start now: only `arrived` needs to be checked.
        """
        return self._state.hosts_changed

    @property
    def running(self) -> Collection[Running]:
        """Jobs that run, in the order in which they were started."""
        return self._state.running.values()

    @property
    def free(self) -> HostSet:
        """Hosts that could take a job now."""
        return HostSet(self._state.hosts.free)

    @property
    def part(self) -> HostSet:
        """Hosts on which tasks run that may share them; they take no job that needs whole hosts."""
        return HostSet(self._state.hosts.part)

    def room(self, host: int) -> HostRoom:
        """Return a copy of the free resources of a host; those of its whole capacity if no tasks share it.

        ValueError if a property of a host is no amount.
        """
        if self._state.rooms is None:
            return Rooms(self._state.hosts.by_id).room(host)
        return self._state.rooms.room(host).copy()

    def shortage(self, job: Job) -> str:
        """Return the reason why there is no room for the tasks of a job: the resource that stops it on most hosts."""
        return "" if job.demand is None else self._shortages.reason(job.demand)

    def later_hosts(
        self, job: Job, hosts: HostSet, pack: Pack | None = None, ended: Iterable[Running] = ()
    ) -> HostSet | None:
        """Return those of these hosts on which a job with a demand would have its tasks; None if not all would fit.

        As if the hosts were usable, sleeping ones too, and some jobs had ended; other tasks keep what they use. `pack`
        is a selection, as `packer` returns it; by default best_fit.
        """
        rooms, wanted = self._state.rooms, job.demand
        if rooms is None or wanted is None:
            return None
        places = later_places(rooms, wanted, hosts, pack or self.packer("best_fit"), ended)
        return None if places is None else HostSet.from_ids(place.host for place in places)

    def packer(self, packing: str) -> Packer:
        """Return the selection of this name, to place tasks in rooms of the future: for `Availability.earliest_room`.

        It is one of PACKED_SELECTIONS, which knows the jobs submitted so far.
        """
        placer = TaskPlacer(self._state, PACKED_SELECTIONS[packing])
        return Packer(placer.rating)

    @property
    def all_hosts(self) -> HostSet:
        """Every compute host."""
        return HostSet(self._state.hosts.all)

    @property
    def hosts(self) -> Mapping[int, Host]:
        """Compute hosts by number: names, properties, sleep pstates."""
        return self._state.hosts.by_id

    @property
    def storages(self) -> Mapping[int, Host]:
        """Storage hosts by number: the targets of storage mappings; numbered after the compute hosts."""
        return self._state.hosts.storages

    @property
    def unavailable(self) -> HostSet:
        """Hosts announced as failed; jobs on them continue, new ones may not be placed there."""
        return HostSet(self._state.hosts.unavailable)

    @property
    def asleep(self) -> HostSet:
        """Hosts in a sleep pstate."""
        return HostSet(self._state.hosts.asleep)

    @property
    def switching(self) -> HostSet:
        """Hosts with a requested change of pstate that is not done."""
        return HostSet(self._state.hosts.switching)

    def pstate(self, host: int) -> str | None:
        """Return the pstate last acknowledged for a host, as text; None before the first change."""
        return self._state.hosts.pstate.get(host)

    def job(self, job_id: Text) -> Job | None:
        """Return the waiting, held or running job of this id, including control jobs; ended jobs are forgotten."""
        key = job_id if isinstance(job_id, str) else id_text("view.job", job_id)
        state = self._state
        waiting = state.queue.get(key) or state.control.get(key) or state.held.jobs.get(key)
        if waiting is not None:
            return waiting
        running = state.running.get(key)
        return None if running is None else running.job

    def has_id(self, job_id: str) -> bool:
        """Return whether a job has or had this id, as far as is known: Batsim does not name jobs before they arrive."""
        return job_id in self._state.known or job_id in self._state.later_ids

    def run(self, job_id: Text) -> Running | None:
        """Return the hosts and the start of a running job; None if it does not run."""
        return self._state.running.get(job_id if isinstance(job_id, str) else id_text("view.run", job_id))

    def profile(self, job: Job) -> Profile | None:
        """Return the job's profile, if Batsim sent it: with the job, or in SIMULATION_BEGINS (v3 and later)."""
        id_of("view.profile", job)
        members = self._state.profiles.members(job.workload, job.profile)
        if members is None:
            return None
        try:
            return parse_profile(job.profile, members)
        except FieldError:
            return Profile(job.profile, str(members.get("type", "")), members)

    def profiles(self, workload: str) -> Iterator[str]:
        """Iterate over the known profiles of a workload by name, without those that Batsim has forgotten."""
        return self._state.profiles.names(workload)

    def has_profile(self, workload: str, name: str) -> bool:
        """Return whether a profile is known and not forgotten."""
        return self._state.profiles.status(workload, name) is ProfileStatus.THERE

    def remainder(self, job_id: Text, progress: Progress) -> tuple[Members, ...] | None:
        """Return the remaining work of a killed job, as consecutive profiles.

        `progress` is from the JobKilled in this message. A delay is shortened, a parallel task scaled, a composed
        profile split into its steps, with consecutive delays merged. Empty if nothing is left, None if Batsim did not
        send the profiles, or for more than 1000 parts.
        """
        workload = id_text("view.remainder", job_id).partition("!")[0]
        types = FORMER_NAMES if self._state.config.numbered_jobs else FORMER_TYPES
        return remainder(progress, lambda name: self._state.profiles.members(workload, name), types)

    @property
    def wakeups(self) -> Sequence[float]:
        """Times of pending calls, ascending; Batsim may be late with them."""
        return sorted(self._state.wakeups)

    @property
    def registration_open(self) -> bool:
        """True while the algorithm may submit jobs."""
        return self._state.registration_open

    @property
    def all_submitted(self) -> bool:
        """True once Batsim has announced that all static jobs are submitted (v3 and later)."""
        return self._state.all_submitted

    @property
    def expects_requests(self) -> bool:
        """True as long as external events may submit jobs, like those of users of a live site."""
        return self._state.expects_requests

    def availability(self) -> Availability:
        """Return the future: running jobs until their walltimes, and reservations. It is kept up to date."""
        if self._availability is None:
            hosts = self._state.hosts
            self._availability = Availability(self.now, hosts.all, hosts.down)
            self._state.follow(self._availability)
        return self._availability
