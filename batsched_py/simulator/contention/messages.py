"""Batsim's own messages: one byte each, sent to the master host over links that jobs also use."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.simulator.contention.demand import ActivityDemand, Processors
from batsched_py.simulator.contention.fluid_model import FluidModel
from batsched_py.simulator.contention.simgrid_config import TCP_WINDOW
from batsched_py.simulator.contention.transfers import MAX_CACHED, TransferModel
from batsched_py.simulator.time.event_queue import RANK_MAIL, EventQueue

#: A message needs no processor.
_NO_PROCESSORS = Processors((), ())


class MessageDemands:
    """The demands of one byte from each host to the master, and last from the master to itself.

    Without a master, messages need nothing. Those of the first hosts are kept, up to MAX_CACHED links.
    """

    def __init__(
        self,
        platform: Platform,
        hosts: Sequence[PlatformHost],
        master_name: str,
        tcp_window: float = TCP_WINDOW,
        silent: Container[int] = (),
    ) -> None:
        """Compute all of them but those of `silent` hosts, which have no way; PlatformError if another has none."""
        self._silent = silent
        master = platform.master(master_name)
        self._last = len(hosts)
        self._transfers = None if master is None else TransferModel(platform, (*hosts, master), tcp_window)
        self._kept: list[ActivityDemand] = []
        links = 0
        for demand in self:
            links += 1 + len(demand.links)
            if links <= MAX_CACHED:
                self._kept.append(demand)

    def __iter__(self) -> Iterator[ActivityDemand]:
        """Yield that of each host, and that of the master."""
        return map(self._demand, range(self._last + 1))

    def __getitem__(self, host: int) -> ActivityDemand:
        """Return that of the host with a number; -1 is the master."""
        number = self._last if host < 0 else host
        return self._kept[number] if number < len(self._kept) else self._demand(number)

    def change_latency(self, links: Iterable[str], latency: float) -> None:
        """Give links another latency, in seconds, for messages from now on."""
        self._kept.clear()
        if self._transfers is not None:
            self._transfers.change_latency(links, latency)

    def _demand(self, number: int) -> ActivityDemand:
        if self._transfers is None or number in self._silent:
            return ActivityDemand()
        links, latency, window = self._transfers.needs([(number, self._last, 1.0)])
        return ActivityDemand((), links, latency, window)


def message_seconds(demand: ActivityDemand) -> float:
    """Return the travel time of a message in seconds when nothing else uses its links."""
    return demand.latency + demand.seconds_alone(_NO_PROCESSORS)


def longest_message(
    platform: Platform,
    hosts: Sequence[PlatformHost],
    master_name: str,
    tcp_window: float = TCP_WINDOW,
    silent: Container[int] = (),
) -> float:
    """Return the maximum travel time in seconds of a message from these hosts, or from the master to itself."""
    return max(map(message_seconds, MessageDemands(platform, hosts, master_name, tcp_window, silent)))


class Courier:
    """The transport of messages to the master host."""

    def __init__(self, queue: EventQueue, demands: MessageDemands, fluid: FluidModel | None) -> None:
        """Take the demands of messages; without a fluid model, messages do not share links."""
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
