"""Options of placement: which free hosts jobs get, and on which they may run."""

from __future__ import annotations

from dataclasses import dataclass

from batsched_py.planning.policies.constraints import CONSTRAINTS, Constraint
from batsched_py.planning.policies.packing import PACKED_SELECTIONS, PackedSelection
from batsched_py.planning.policies.selection import SELECTIONS, Selection
from batsched_py.scheduling.options import named, option


@dataclass(frozen=True, slots=True)
class PlacementOptions:
    """Options of placement, for algorithms that use a Placement; these declare their own options in a subclass."""

    selection: Selection = named("lowest", "which of the free hosts a job gets", SELECTIONS)
    zone: str = option(
        "",
        "property that says a host's zone, or several, as rack/room (smaller zones first)",
        peer_text=r"[\w-]+(/[\w-]+)*",  # names of properties: nothing is opened
    )
    topology: str = option(
        "",
        "network of the hosts, in the order of their numbers: fat-tree:, dragonfly: or torus: and SimGrid's"
        " topo_parameters, like torus:8,8,8",
        peer_text=r"(fat-tree|dragonfly|torus):[0-9,;]+",
    )
    constraint: Constraint = named(
        "none", "on which hosts a job may run: as the query in its member `constraint` says, or a function", CONSTRAINTS
    )

    packing: PackedSelection = named("best_fit", "which hosts the tasks of jobs with demands get", PACKED_SELECTIONS)

    @property
    def by_number(self) -> bool:
        """True if a job can start on any free hosts, so that they need only be counted."""
        return self.selection.total and self.constraint.rule is None

    def refuse(self, why: str) -> None:
        """Raise ValueError that names an unsupported option, for algorithms that do not support all of them."""
        if self.constraint.rule is not None:
            raise ValueError(f"constraint {self.constraint.name} {why}")
        raise ValueError(f"selection {self.selection.name} {why}")

    @property
    def plain(self) -> bool:
        """True if jobs may run on any host, and get the free hosts with the lowest numbers."""
        return self.selection.name == "lowest" and self.constraint.rule is None
