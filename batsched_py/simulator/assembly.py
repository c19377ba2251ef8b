"""The assembly of a simulation: creation of all parts from the bottom up, each with its dependencies.

The inputs are checked first (`inputs`). The order of creation is: the *context*, which nearly all parts share; the jobs
and their execution; the parts that apply commands; and finally the sources and the loop. Assembly schedules no events:
the simulation does so when it starts its sources and its loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from msgspec import Struct

from batsched_py.metadata.store import JobStore
from batsched_py.model.changes import Changing
from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.events import Event, SimulationBegins
from batsched_py.protocol.later_ids import listed_ids
from batsched_py.results.records import EndedJobs, JobRecord
from batsched_py.simulator.contention.demand import Processors
from batsched_py.simulator.contention.fluid_model import FluidModel
from batsched_py.simulator.contention.messages import Courier, longest_message
from batsched_py.simulator.contention.transfers import TransferModel
from batsched_py.simulator.context import Context
from batsched_py.simulator.inputs import Inputs, check_inputs
from batsched_py.simulator.jobs.execution import ProfileExecution
from batsched_py.simulator.jobs.failures import Failures
from batsched_py.simulator.jobs.lifecycle import Jobs
from batsched_py.simulator.jobs.registration import Registration
from batsched_py.simulator.jobs.submissions import Submissions
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.external_events import ExternalEvents
from batsched_py.simulator.machines.platform_changes import UNCHANGED, Effects, PlatformChanges, ScaledSpeeds
from batsched_py.simulator.machines.switching import Switching
from batsched_py.simulator.machines.tracer import Tracer
from batsched_py.simulator.periodic_calls import RecurringEvents
from batsched_py.simulator.referee.capacities import CapacityRules
from batsched_py.simulator.referee.placement import PlacementRules
from batsched_py.simulator.referee.referee import Referee
from batsched_py.simulator.time.batsim1_loop import Batsim1Loop
from batsched_py.simulator.time.event_queue import RANK_MACHINES, RANK_SUBMISSION, EventQueue
from batsched_py.simulator.time.instant_loop import InstantLoop
from batsched_py.simulator.time.latency_loop import LatencyLoop
from batsched_py.simulator.time.live_loop import LiveEvents, LiveLoop
from batsched_py.simulator.time.mailbox import InstantMailbox
from batsched_py.simulator.time.timed_source import TimedSource
from batsched_py.simulator.wire import simulation_begins
from batsched_py.simulator.wire.store_link import StoreLink


class SimulationParts(Struct, frozen=True):
    """The parts of a simulation that its run uses directly."""

    context: Context
    jobs: Jobs
    ended: EndedJobs
    capacities: CapacityRules
    submissions: Submissions
    registration: Registration
    switching: Switching
    referee: Referee
    begins: SimulationBegins
    sources: list[TimedSource[Any]]
    loop: InstantLoop | LatencyLoop | LiveLoop | Batsim1Loop
    #: Returns the maximum travel time in seconds of Batsim's own messages on the platform's links.
    longest_message: Callable[[], float]


def assemble(
    platform: Platform,
    workloads: Sequence[Workload],
    settings: Settings,
    *,
    store: JobStore | None,
    trace: bool,
    pass_on: Callable[[Sequence[JobRecord]], object] | None,
    live: LiveEvents | None = None,
) -> SimulationParts:
    """Create the parts of a simulation; PlatformError, WorkloadError or OptionError if it cannot be simulated."""
    inputs = check_inputs(platform, workloads, settings, live=live is not None, stored=store is not None)
    computing, storages, profiles = inputs.computing, inputs.storages, inputs.profiles
    platform, hosts, machines, generation = inputs.platform, inputs.hosts, inputs.machines, inputs.generation
    speeds = [host.speeds[host.pstate] for host in hosts]
    cores = [host.cores for host in hosts]
    processors = Processors(speeds, cores)
    scaled = ScaledSpeeds(speeds) if platform.changes else None
    current = processors if scaled is None else Processors(scaled, cores)
    context, latency_loop = _make_context(inputs, settings, processors=current, store=store, trace=trace)
    transfers = TransferModel(platform, hosts, inputs.config.tcp_window)
    execution = _make_execution(context, transfers, processors, platform)
    again = settings.dynamic_jobs or settings.on_failure == "requeue" or generation.greets
    ended = EndedJobs(machines.compute_count, pass_on, again=again)
    used_ids = set[str]()
    rules = _placement_rules(context, inputs, cores)
    jobs = Jobs(context, profiles, execution, rules, ended, used_ids=used_ids)
    submissions = Submissions(context, workloads, profiles, jobs.submit)
    jobs.workflows, jobs.following = submissions.make_workflows(), submissions.following
    for workflow in jobs.workflows:
        workflow.start()
    if settings.dynamic_jobs or settings.on_failure == "requeue":
        used_ids |= submissions.job_ids()
    later_ids = listed_ids(used_ids) if settings.dynamic_jobs else ()
    registration = Registration(context, profiles, partial(jobs.submit, announced=context.acknowledges), used_ids)
    switching = Switching(context, hosts, speeds, jobs.follow_speeds)

    def over() -> bool:
        """Return True if all jobs have ended, none will be submitted and no host is switching; calls may be pending."""
        return not (jobs.unfinished or registration.open or machines.switching) and submissions.over

    external = ExternalEvents(context, None if settings.on_failure == "ignore" else jobs.fail)
    loop = latency_loop or _instant_loop(context, external, live)
    if scaled is not None:
        failures = Failures(context, jobs, [host.name for host in hosts], external)
        _follow_changes(context, inputs, scaled, failures, transfers)
    return SimulationParts(
        context,
        jobs,
        ended,
        rules.capacities,
        submissions,
        registration,
        switching,
        Referee(context, jobs, switching, registration, RecurringEvents(context, over)),
        simulation_begins.build(context, computing, storages, profiles, counts=inputs.counts, later_ids=later_ids),
        _sources(context, submissions, external, announces_end=live is None),
        loop if generation.waits_for_calls else Batsim1Loop(context.queue, context.outbox, over),
        partial(longest_message, platform, hosts, settings.master_host, inputs.config.tcp_window, inputs.stranded),
    )


def _make_context(
    inputs: Inputs, settings: Settings, *, processors: Processors, store: JobStore | None, trace: bool
) -> tuple[Context, LatencyLoop | None]:
    """Create the context, and the loop for its mailbox if messages take time."""
    generation, machines, queue, outbox = inputs.generation, inputs.machines, EventQueue(), list[Event]()
    fluid = FluidModel(queue, processors, inputs.notes) if settings.network == "sharing" else None
    loop = meter = None
    if inputs.messages is not None:
        courier = Courier(queue, inputs.messages, fluid)
        loop = LatencyLoop(queue, outbox, courier.carry, as_batsim_5=generation.greets)
    if inputs.power is not None:
        meter = EnergyMeter(inputs.power, [host.pstate for host in inputs.hosts])
    store_link = None
    if store is not None:
        come_along = generation.profiles_come_with_jobs
        store_link = StoreLink(store, forward_profiles=settings.forward_profiles, read_profiles=come_along)
    context = Context(
        settings=settings,
        generation=generation,
        queue=queue,
        mailbox=InstantMailbox() if loop is None else loop.mailbox,
        outbox=outbox,
        machines=machines,
        fluid=fluid,
        meter=meter,
        tracer=Tracer(machines, meter if settings.energy else None, queue, machine_states=settings.trace_machine_states)
        if trace
        else None,
        store=store_link,
        approximations=inputs.notes,
    )
    return context, loop


def _follow_changes(
    context: Context, inputs: Inputs, speeds: ScaledSpeeds, failures: Failures, transfers: TransferModel
) -> None:
    """Let the platform change over time if tasks share it: otherwise their ends are computed at their starts."""
    platform, fluid = inputs.platform, context.fluid
    if fluid is None:
        context.approximations.add(UNCHANGED)
        return
    context.lose = None if failures.ends_jobs else failures.lose_one
    latencies = [transfers.change_latency, *([] if inputs.messages is None else [inputs.messages.change_latency])]
    numbers = {host.name: number for number, host in enumerate(inputs.hosts)}
    effects = Effects(speeds, latencies, failures, failures.waits_for_changes)
    PlatformChanges(context, fluid, platform.changes, numbers, effects, source=platform.source)


def _placement_rules(context: Context, inputs: Inputs, cores: Sequence[int]) -> PlacementRules:
    """Return the placement rules, with the numbers of storage hosts by name if jobs may name them."""
    storages = inputs.storages
    named = {} if context.generation.former_storages else _numbers(storages, len(cores) - len(storages))
    sharing = context.settings.compute_sharing
    capacities = CapacityRules(inputs.platform.source, inputs.computing, context.approximations, sharing=sharing)
    return PlacementRules(context, inputs.profiles, cores, named, stranded=inputs.stranded, capacities=capacities)


def _make_execution(
    context: Context, transfers: TransferModel, processors: Processors, platform: Platform
) -> ProfileExecution:
    """Return the execution of jobs, with the rules of the generation of Batsim."""
    settings, generation = context.settings, context.generation
    return ProfileExecution(
        transfers,
        processors,
        context.approximations,
        context.machines.storages,
        contention=context.fluid is not None,
        compute_sharing=settings.compute_sharing or not generation.checks_allocations,
        former_storages=generation.former_storages,
        former_tasks=generation.former_tasks,
        speeds_change=any(one.quantity is Changing.SPEED for one in platform.changes),
    )


def _numbers(storages: Sequence[PlatformHost], first: int) -> Mapping[str, int]:
    """Return name -> number of each storage host."""
    return {host.name: number for number, host in enumerate(storages, first)}


def _instant_loop(context: Context, external: ExternalEvents, live: LiveEvents | None) -> InstantLoop | LiveLoop:
    """Return the loop without message latency, with live events if there are any."""
    queue, outbox = context.queue, context.outbox
    if live is None:
        return InstantLoop(queue, outbox)
    return LiveLoop(queue, outbox, live, deliver=external.happen, finish=external.finish)


def _sources(
    context: Context, submissions: Submissions, external: ExternalEvents, *, announces_end: bool
) -> list[TimedSource[Any]]:
    """Return the sources of events independent of the scheduler: submissions, and external events of files, if any.

    With `announces_end` the scheduler is notified after the last external event. With energy accounting, Batsim 5 reads
    the meters of all hosts before it submits the first job.
    """
    settings = context.settings
    jobs: TimedSource[Any] = TimedSource(
        context.queue,
        context.mailbox,
        RANK_SUBMISSION,
        submissions.in_order(),
        time=itemgetter(0),
        deliver=submissions.submit,
        finish=submissions.finish,
        gives_way=context.generation.greets and settings.energy and settings.message_latency,
    )
    if not settings.external_events:
        return [jobs]
    events: TimedSource[Any] = TimedSource(
        context.queue,
        context.mailbox,
        RANK_MACHINES,
        iter(sorted(settings.external_events, key=attrgetter("timestamp"))),
        time=attrgetter("timestamp"),
        deliver=external.happen,
        finish=external.finish if announces_end else _do_nothing,
    )
    return [jobs, events]


def _do_nothing() -> None:
    """Do nothing: the source of live events announces the end."""
