"""The context: the shared state of the parts of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # parts import these names from their own modules, not from here
    from batsched_py.model.settings import Settings
    from batsched_py.protocol.events import Event
    from batsched_py.simulator.contention.fluid_model import FluidModel
    from batsched_py.simulator.generation import Generation
    from batsched_py.simulator.machines.energy_meter import EnergyMeter
    from batsched_py.simulator.machines.machines import Machines
    from batsched_py.simulator.machines.tracer import Tracer
    from batsched_py.simulator.time.event_queue import EventQueue
    from batsched_py.simulator.time.mailbox import Mailbox
    from batsched_py.simulator.wire.store_link import StoreLink


class Context:
    """Settings, clock and hosts, and the outbox for the events of the next message.

    Attributes:
        generation: the simulated version of Batsim.
        mailbox: the parts' channel to Batsim's server; determines the arrival times of messages.
        outbox: events since the latest message, in order.
        fluid: the model of activities that share hosts and links; None if activities do not affect each other.
        meter: the energy meter; None without energy accounting, unless power states are known without it.
        tracer: None if trace files are disabled.
        store: the store of job descriptions; None if messages contain them.
        approximations: one line for each simplification that was applied.
        off: hosts (bits) that a profile of the platform has switched off, without a notification of the scheduler.
        lose: loses a job, by its id, whose task would cross a link that is off; None if none goes off.
    """

    __slots__ = (
        *("approximations", "fluid", "generation", "machines", "mailbox", "meter", "outbox", "queue", "settings"),
        *("lose", "off", "store", "tracer"),
    )

    def __init__(
        self,
        *,
        settings: Settings,
        generation: Generation,
        queue: EventQueue,
        mailbox: Mailbox,
        outbox: list[Event],
        machines: Machines,
        fluid: FluidModel | None,
        meter: EnergyMeter | None,
        tracer: Tracer | None,
        store: StoreLink | None,
        approximations: set[str],
    ) -> None:
        self.settings, self.generation = settings, generation
        self.queue, self.mailbox, self.outbox = queue, mailbox, outbox
        self.machines, self.fluid, self.meter, self.tracer = machines, fluid, meter, tracer
        self.store, self.approximations = store, approximations
        self.off = 0
        self.lose: Callable[[str], None] | None = None

    @property
    def acknowledges(self) -> bool:
        """True if JOB_SUBMITTED acknowledges registered jobs."""
        asked = self.settings.acknowledge_dynamic_jobs
        return self.generation.acknowledges_jobs if asked is None else asked

    def emit(self, event: Event) -> None:
        """Add an event to the next message."""
        self.outbox.append(event)
