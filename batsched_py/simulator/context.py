"""The context: what all parts of a simulation share."""

from __future__ import annotations

from msgspec import Struct, field

from batsched_py.protocol.dialects import V4, Dialect
from batsched_py.protocol.events import Event
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.machines import Machines
from batsched_py.simulator.outputs.tracing import Tracer
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.time.event_queue import EventQueue
from batsched_py.simulator.time.mailbox import InstantMailbox, Mailbox
from batsched_py.simulator.wire.store_link import StoreLink


class Context(Struct, frozen=True):
    """Time, hosts and options; and where the parts leave what is to be told.

    Attributes:
        meter: None if energy is not counted.
        tracer: None if nobody wants the trace files.
        mailbox: how the parts reach Batsim's server, and when.
        stored: None if messages describe the jobs.
        outbox: what happened since the latest message, in order.
        dialect: what is spoken; it tells which Batsim is played.
        approximations: one line for each simplification that was really used.
    """

    settings: Settings
    machines: Machines
    meter: EnergyMeter | None
    tracer: Tracer | None
    queue: EventQueue
    stored: StoreLink | None = None
    outbox: list[Event] = field(default_factory=list)
    mailbox: Mailbox = field(default_factory=InstantMailbox)
    dialect: Dialect = V4
    approximations: set[str] = field(default_factory=set)

    @property
    def is_v14(self) -> bool:
        """True if Batsim 1.4 is played."""
        return self.settings.is_v14

    def emit(self, event: Event) -> None:
        """Tell the scheduler in the next message."""
        self.outbox.append(event)
