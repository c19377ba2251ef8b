"""Properties of the hosts of a platform from the nodes of a configuration, as jobs that share hosts request them."""

from __future__ import annotations

from collections.abc import Mapping

from batsched_py.slurm.configuration import SlurmConfiguration, SlurmNode


def node_properties(node: SlurmNode) -> Mapping[str, str]:
    """Return the properties of a node: `cpu` in percent, `mem` in MiB, `gpus`, `gpu_model` and `capacity`.

    A node with GPUs of several types has no `gpu_model`.
    """
    gpus = sum(one.count for one in node.gres if one.name == "gpu")
    models = {one.type for one in node.gres if one.name == "gpu"}
    others: dict[str, int] = {}
    for one in node.gres:
        if one.name != "gpu":
            others[one.name] = others.get(one.name, 0) + one.count
    properties = {"cpu": str(100 * node.cpus), "mem": str(node.memory)}
    if gpus:
        properties["gpus"] = str(gpus)
    if gpus and len(models) == 1 and "" not in models:
        properties["gpu_model"] = min(models)
    if others:
        properties["capacity"] = " ".join(f"{name}:{count}" for name, count in others.items())
    return properties


def licence_property(configuration: SlurmConfiguration) -> str:
    """Return the value of the property `licences` of the machine; "" without licences."""
    return " ".join(f"{name}:{count}" for name, count in configuration.licences)


def nodes_of_several_models(configuration: SlurmConfiguration) -> list[str]:
    """Return the nodes with GPUs of several types, which the properties of a host cannot express."""
    return [node.name for node in configuration.nodes if len({one.type for one in node.gres if one.name == "gpu"}) > 1]
