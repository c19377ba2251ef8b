"""Addresses of computes in networks, assigned in ascending order, and therefore reproducible."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import count
from typing import Final

from batsched_py.experiments.model import Compute, Network
from batsched_py.text.display import displayed

#: Address range of existing networks, and of those without a range in the document.
_FIRST: Final = int(IPv4Address("10.0.0.0"))
#: The network of a compute without networks.
ANY: Final = ""


class _Network:
    """A created network: its name, its address range, and the total and assigned numbers of addresses."""

    def __init__(self, network: Network) -> None:
        self.name, self.size, self.assigned = network.name, network.size, 0
        self.address: IPv4Address | IPv6Address | None = ip_address(network.address) if network.address else None

    def next(self) -> str | None:
        """Return the next address after that of the network itself; None if it has no address range."""
        self.assigned += 1
        if self.size is not None and self.assigned > self.size:
            raise ValueError(f"network {displayed(self.name)} has no address left")
        return None if self.address is None else str(self.address + self.assigned)


class Addresses:
    """The addresses of a run, which are never reused."""

    def __init__(self) -> None:
        #: Experiment -> name -> network.
        self._networks: dict[str, dict[str, _Network]] = {}
        self._others = count(1)

    def add(self, experiment: str, network: Network) -> None:
        """Add a requested network."""
        self._networks.setdefault(experiment, {})[network.name] = _Network(network)

    def forget(self, experiment: str) -> None:
        """Remove the networks of a deleted experiment."""
        self._networks.pop(experiment, None)

    def give(self, compute: Compute, experiment: str) -> dict[str, str]:
        """Assign and return network -> address of an instance of a compute of this experiment.

        ValueError if a network has no free address.
        """
        own = self._networks.get(experiment, {})
        found = dict[str, str]()
        for name, exists in [(one.name, one.exists) for one in compute.networks] or [(ANY, True)]:
            address = own[name].next() if not exists and name in own else None
            found[name] = address or str(IPv4Address(_FIRST + next(self._others)))
        return found
