"""Addresses of computes in networks: the next one that is free, always the same for the same run."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import count
from typing import Final

from batsched_py.experiments.model import Compute, Network
from batsched_py.text.display import displayed

#: Addresses in networks that exist, or state none of their own.
_FIRST: Final = int(IPv4Address("10.0.0.0"))
#: The network of a compute that names none.
ANY: Final = ""


class _Network:
    """A network that was created: its name, its address, how many it has, and how many are given."""

    def __init__(self, network: Network) -> None:
        self.name, self.size, self.given = network.name, network.size, 0
        self.address: IPv4Address | IPv6Address | None = ip_address(network.address) if network.address else None

    def next(self) -> str | None:
        """Return the next address, after that of the network itself; None if it has none of its own."""
        self.given += 1
        if self.size is not None and self.given > self.size:
            raise ValueError(f"network {displayed(self.name)} has no address left")
        return None if self.address is None else str(self.address + self.given)


class Addresses:
    """Addresses of a run; they are never given again."""

    def __init__(self) -> None:
        #: Experiment -> name -> network of its own.
        self._networks: dict[str, dict[str, _Network]] = {}
        self._others = count(1)

    def add(self, experiment: str, network: Network) -> None:
        """Note a network that was asked for."""
        self._networks.setdefault(experiment, {})[network.name] = _Network(network)

    def forget(self, experiment: str) -> None:
        """Forget the networks of an experiment that is gone."""
        self._networks.pop(experiment, None)

    def give(self, compute: Compute, experiment: str) -> dict[str, str]:
        """Return network -> address of an instance of a compute of this experiment.

        ValueError if a network has none left.
        """
        own = self._networks.get(experiment, {})
        found = dict[str, str]()
        for name, exists in [(one.name, one.exists) for one in compute.networks] or [(ANY, True)]:
            address = own[name].next() if not exists and name in own else None
            found[name] = address or str(IPv4Address(_FIRST + next(self._others)))
        return found
