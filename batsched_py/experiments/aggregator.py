"""Aggregator: the compute that collects the metrics of all others, which a document asks for by a word (M21)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from batsched_py.experiments.model import AddressOf, Compute, Experiment, Reference

NAME: Final = "BonFIRE-Monitor"
#: Context by which a compute knows its address.
CONTEXT: Final = "aggregator_ip"
NETWORK: Final = "BonFIRE WAN"
_IMAGE: Final = "BonFIRE Zabbix Aggregator v8"


def with_aggregator(experiment: Experiment) -> Experiment:
    """Return the experiment with the aggregator that it asks for, before all other resources.

    Each compute without a context `aggregator_ip` needs its address. It is where the first compute is if the document
    names no location.
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
