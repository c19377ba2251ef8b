"""Configuration files."""

from __future__ import annotations

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.conf_reader import read_configuration
from tests.unit.slurm.clusters import NODES, PARTITION


def test_parameters_nodes_and_partitions_become_one_configuration() -> None:
    """Limits of partitions are minutes, other times seconds, nodes of partitions bits."""
    conf = read_configuration(
        {
            "slurm.conf": "SchedulerParameters=bf_interval=5,defer\nPriorityMaxAge=0-00:05:00\n# a comment\n"
            "SelectType=select/linear\nNodeName=n[1-2] Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 Feature=a,b\n"
            "PartitionName=p Nodes=n2 MaxTime=1:00:00\n"
        }
    )
    assert (conf.scheduler.bf_interval, conf.scheduler.defer, conf.max_age, conf.linear) == (5, True, 300, True)
    assert [(node.cores, node.cpus, node.features) for node in conf.nodes] == [(8, 16, frozenset("ab"))] * 2
    assert (conf.partitions[0].nodes, conf.partitions[0].max_time) == (0b10, 60)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Prolog=/x", r"slurm.conf: line 3: Prolog: is an unknown or unsupported parameter"),
        ("SchedulerParameters=bf_yield=1", r"line 3: SchedulerParameters=bf_yield: is an unknown"),
        ("SelectType=select/cray_aries", r"line 3: SelectType: must be select/linear or .*, not select/cray_aries"),
        ("PriorityMaxAge=soon", r"line 3: PriorityMaxAge: must be a time .*, not soon"),
        ("NodeName=n1", r"line 3: n1: is defined twice"),
        ("PartitionName=q Nodes=m1", r"line 3: Nodes: must be known nodes, not m1"),
        ("PartitionName=q Nodes=n1 AllowGroups=x", r"line 3: allowgroups: is an unknown or unsupported parameter"),
        ("gibberish", r"line 3: gibberish: must be NAME=VALUE"),
    ],
)
def test_a_fault_is_reported_with_file_line_and_rule(line: str, message: str) -> None:
    """Unknown parameters are refused by name."""
    with pytest.raises(ConfigurationError, match=message):
        read_configuration({"slurm.conf": f"{NODES}{PARTITION}{line}\n"})
