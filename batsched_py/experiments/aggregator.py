"""Aggregator: the compute that collects the metrics of all others, requested by one member of a document (M21)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from batsched_py.experiments.model import AddressOf, Compute, Experiment, Reference

NAME: Final = "BonFIRE-Monitor"
#: Context that passes its address to computes.
CONTEXT: Final = "aggregator_ip"
NETWORK: Final = "BonFIRE WAN"
_IMAGE: Final = "BonFIRE Zabbix Aggregator v8"


def with_aggregator(experiment: Experiment) -> Experiment:
    """Return the experiment with the requested aggregator before all other resources.

    Each compute without a context `aggregator_ip` depends on its address. Its default location is that of the first
    compute.
    """
    if experiment.aggregator is None:
        return experiment
    first = next((one for one in experiment.resources if isinstance(one, Compute)), None)
    locations: tuple[str, ...] = (experiment.aggregator,) if experiment.aggregator else ()
    constraint = None
    if first is not None and not locations:
        locations, constraint = first.locations[:1], first.constraint
    monitor = Compute(
        NAME,
        "collects the metrics of this experiment",
        locations=locations,
        constraint=constraint,
        storages=(Reference(_IMAGE, exists=True),),
        networks=(Reference(NETWORK, exists=True),),
    )
    address = AddressOf(NAME, NETWORK)
    others = (
        replace(one, contexts={CONTEXT: address, **one.contexts}) if isinstance(one, Compute) else one
        for one in experiment.resources
    )
    return replace(experiment, resources=(monitor, *others))
