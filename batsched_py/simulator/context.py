"""The context: what all parts of a simulation share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a part imports what it uses, not what others have put here
    from batsched_py.protocol.events import Event
    from batsched_py.simulator.contention.fluid_model import FluidModel
    from batsched_py.simulator.generation import Generation
    from batsched_py.simulator.machines.energy_meter import EnergyMeter
    from batsched_py.simulator.machines.machines import Machines
    from batsched_py.simulator.machines.tracer import Tracer
    from batsched_py.simulator.settings import Settings
    from batsched_py.simulator.time.event_queue import EventQueue
    from batsched_py.simulator.time.mailbox import Mailbox
    from batsched_py.simulator.wire.store_link import StoreLink


class Context:
    """Settings, time and hosts; and where the parts leave the events of the next message.

    Attributes:
        generation: the Batsim that is played.
        mailbox: through which the parts reach Batsim's server, and when.
        outbox: events since the latest message, in order.
        fluid: where activities that share hosts and links advance; None if none slows another down.
        meter: None if energy is not counted, and power states are not known without.
        tracer: None if no trace files are wanted.
        store: None if messages describe the jobs.
        approximations: one line for each simplification that was really used.
    """

    __slots__ = (
        *("approximations", "fluid", "generation", "machines", "mailbox", "meter", "outbox", "queue", "settings"),
        *("store", "tracer"),
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

    @property
    def acknowledges(self) -> bool:
        """True if registered jobs are answered by JOB_SUBMITTED."""
        asked = self.settings.acknowledge_dynamic_jobs
        return self.generation.acknowledges_jobs if asked is None else asked

    def emit(self, event: Event) -> None:
        """Put an event into the next message."""
        self.outbox.append(event)
