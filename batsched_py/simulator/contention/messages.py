"""Batsim's own messages: one byte each, sent to the master host over links that jobs also use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.simulator.contention.demand import ActivityDemand, Processors
from batsched_py.simulator.contention.fluid_model import FluidModel
from batsched_py.simulator.contention.simgrid_config import TCP_WINDOW
from batsched_py.simulator.contention.transfers import TransferModel
from batsched_py.simulator.time.event_queue import RANK_MAIL, EventQueue

#: A message needs no processor.
_NO_PROCESSORS = Processors((), ())


def message_demands(
    platform: Platform, hosts: Sequence[PlatformHost], master_name: str, tcp_window: float = TCP_WINDOW
) -> list[ActivityDemand]:
    """Return the demands of one byte from each host to the master, and last from the master to itself.

    The result is empty if the platform has no master.
    """
    master = platform.master(master_name)
    if master is None:
        return [ActivityDemand()] * (len(hosts) + 1)
    ends = (*hosts, master)
    transfers = TransferModel(platform, ends, tcp_window)
    demands = []
    for number in range(len(ends)):
        links, latency, window = transfers.needs([(number, len(hosts), 1.0)])
        demands.append(ActivityDemand((), links, latency, window))
    return demands


def message_seconds(demand: ActivityDemand) -> float:
    """Return the travel time of a message in seconds when nothing else uses its links."""
    return demand.latency + demand.seconds_alone(_NO_PROCESSORS)


def longest_message(
    platform: Platform, hosts: Sequence[PlatformHost], master_name: str, tcp_window: float = TCP_WINDOW
) -> float:
    """Return the maximum travel time in seconds of a message from these hosts, or from the master to itself."""
    return max(map(message_seconds, message_demands(platform, hosts, master_name, tcp_window)))


class Courier:
    """The transport of messages to the master host."""

    def __init__(self, queue: EventQueue, demands: Sequence[ActivityDemand], fluid: FluidModel | None) -> None:
        """Take the result of `message_demands`; without a fluid model, messages do not share links."""
        self._queue, self._demands, self._fluid = queue, demands, fluid

    def carry(self, host: int, arrive: Callable[[], None]) -> None:
        """Send a message from the host with a number (-1 is the master); call `arrive` on arrival."""
        demand = self._demands[host]
        if self._fluid is not None:
            self._fluid.begin(demand, arrive, rank=RANK_MAIL)
        else:
            self._queue.at(self._queue.now + message_seconds(demand), RANK_MAIL, _call, arrive)


def _call(action: Callable[[], None]) -> None:
    action()
