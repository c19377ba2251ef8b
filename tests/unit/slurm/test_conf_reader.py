"""Configuration files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.reading.included_file import IncludedFile
from batsched_py.slurm.conf_effects import SCHEDULER_APPROXIMATED
from batsched_py.slurm.conf_meanings import MEANINGS, NODE_MEANINGS, PARTITION_MEANINGS, SCHEDULER_MEANINGS
from batsched_py.slurm.conf_parameters import (
    CHOICES,
    FIELDS,
    MEMORY_FIELDS,
    NODE_FIELDS,
    NODE_SIZES,
    PARTITION_FIELDS,
    PARTITION_OTHERS,
)
from batsched_py.slurm.conf_reader import read_configuration, review_configuration
from batsched_py.slurm.configuration import MemoryBounds, SchedulerOptions
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
        ("Burst=/x", r"slurm.conf: line 3: Burst: is an unknown or unsupported parameter"),
        ("Include other.conf", r"line 3: Include: is not supported here: put all parameters into one file"),
        ("Include", r"line 3: Include: must name one file"),
        ("Include=other.conf", r"line 3: Include: must name one file"),
        ("Include a b", r"line 3: Include: must name one file"),
        ("PriorityUsageResetPeriod=WEEKLY", r"line 3: PriorityUsageResetPeriod: is supported only as none"),
        ("PriorityFlags=MAX_TRES", r"line 3: PriorityFlags: max_tres is not supported: must be of no_fair_tree"),
        ("PartitionName=q", r"line 3: PartitionName: must have Nodes"),
        ("SchedulerParameters=bf_yield=1", r"line 3: SchedulerParameters=bf_yield: is an unknown"),
        ("SelectType=select/cray_aries", r"line 3: SelectType: must be select/linear or .*, not select/cray_aries"),
        ("PriorityMaxAge=soon", r"line 3: PriorityMaxAge: must be a time .*, not soon"),
        ("NodeName=n1", r"line 3: n1: is defined twice"),
        ("PartitionName=q Nodes=m1", r"line 3: Nodes: must be known nodes, not m1"),
        ("PartitionName=q Nodes=n1 Foo=x", r"line 3: Foo: is an unknown or unsupported parameter of a partition"),
        ("NodeName=m1 State=FUTURE", r"line 3: State: must be UNKNOWN or IDLE or .*, not FUTURE"),
        ("NodeSet=n1 Nodes=n2", r"line 3: NodeSet: must have a name that no node and no other set has"),
        ("NodeSet=s Nodes=m1", r"line 3: Nodes: must be known nodes, not m1"),
        ("NodeSet=s", r"line 3: NodeSet: must have Nodes or Feature"),
        ('PartitionName=q Nodes=""', r"line 3: Nodes: must be one node or more"),
        ("NodeSet=s Feature=nope\nPartitionName=q Nodes=s", r"line 4: Nodes: must be one node or more"),
        ("NodeSet=s Weight=2", r"line 3: Weight: is an unknown or unsupported parameter of a set of nodes"),
        ("DownNodes=n1 State=FUTURE", r"line 3: State: must be DOWN or DRAIN or .*, not FUTURE"),
        ("DownNodes=n1 State=IDLE", r"line 3: State: must be DOWN or DRAIN or .*, not IDLE"),
        ("DownNodes=n1 Weight=2", r"line 3: Weight: is an unknown or unsupported parameter of a line DownNodes"),
        ("PartitionName=q Nodes=ALL Nodes=n1", r"line 3: Nodes: is given twice in one line"),
        ("NodeName=m1 CPUs=4 cpus=8", r"line 3: cpus: is given twice in one line"),
        ("NodeName=m1 Feature=a Features=b", r"line 3: Features: is given twice"),
        ("NodeSet=s Feature=a Feature=b", r"line 3: Feature: is given twice in one line"),
        ("DownNodes=n1 DownNodes=n2", r"line 3: DownNodes: is given twice in one line"),
        ("PriorityMaxAge=1 PriorityMaxAge=2", r"line 3: PriorityMaxAge: is given twice in one line"),
        ("PartitionName=q Nodes=n1 Default=YES", r"line 3: Default: must be YES for one partition only"),
        ("PreemptMode=REQUEUE,CANCEL", r"line 3: PreemptMode: must be one way, which GANG may follow"),
        (
            "PartitionName=q Nodes=n1 OverSubscribe=FORCE:4",
            r"line 3: OverSubscribe: must be NO, YES, EXCLUSIVE or FORCE:1",
        ),
        ("MaxMemPerCPU=lots", r"line 3: MaxMemPerCPU: must be an amount of memory"),
        (
            "DefMemPerCPU=1G\nDefMemPerNode=2G",
            r"slurm.conf: line 4: DefMemPerNode: must not be with DefMemPerCPU, which it excludes",
        ),
        ("MaxMemPerNode=2G\nClusterName=c\nMaxMemPerCPU=1G", r"line 5: MaxMemPerCPU: must not be with MaxMemPerNode"),
        (
            "PartitionName=q Nodes=n1 DefMemPerNode=2 DefMemPerCPU=1",
            r"line 3: DefMemPerCPU: must not be with DefMemPerNode",
        ),
        (
            "PartitionName=DEFAULT MaxMemPerCPU=1\nPartitionName=q Nodes=n1 MaxMemPerNode=2",
            r"line 4: MaxMemPerNode: must not be with MaxMemPerCPU",
        ),
        ("SchedulerParameters=bf_interval=0", r"=bf_interval: must be a whole number from 1; others .*, not 0"),
        ("SchedulerParameters=bf_resolution=0", r"=bf_resolution: must be a whole number from 1"),
        ("SchedulerParameters=sched_interval=-1", r"=sched_interval: must be a whole number from 1"),
        ("SchedulerParameters=bf_window=-1", r"=bf_window: must be a whole number from 0"),
        ("SchedulerParameters=defer=no", r"=defer: must have no value, not no"),
        ("SchedulerParameters=bf_window=9,bf_window=5", r"=bf_window: is given twice"),
        ("PriorityMaxAge=0", r"line 3: PriorityMaxAge: must be longer than 0"),
        ("PriorityWeightTRES=node=5", r"line 3: PriorityWeightTRES: node is not supported: must be of cpu, mem"),
        ("PriorityWeightTRES=cpu=5,CPU=6", r"line 3: PriorityWeightTRES: must be different resources"),
        ("PriorityWeightTRES=cpu=-5", r"line 3: PriorityWeightTRES: must be .*, with numbers from 0, not cpu=-5"),
        ("AccountingStorageEnforce=asociations", r"line 3: AccountingStorageEnforce: asociations is not supported"),
        ("AuthInfo=crd_expire=9", r"line 3: AuthInfo: crd_expire is not supported"),
        ("AuthInfo=cred_expire=9,cred_expire=8", r"line 3: AuthInfo: must not have an option twice"),
        ("NodeName=m1 Gres=gpu:x:-3", r"line 3: Gres: must be resources .*, with counts from 0, not gpu:x:-3"),
        ("NodeName=m1 Gres=gpu:x:y:3", r"line 3: Gres: must be resources"),
        ("NodeName=m1 Gres=gpu:no_consume:3", r"line 3: Gres: must not have no_consume"),
        ("NodeName=m1 Gres=gpu::3", r"line 3: Gres: must be resources"),
        ("NodeName=m1 Gres=:3", r"line 3: Gres: must be resources"),
        ("NodeName=m1 CPUs=-8", r"line 3: CPUs: must be a whole number from 1"),
        ("NodeName=m1 CPUs=5 ThreadsPerCore=2", r"line 3: CPUs: must be a multiple of 2, the product .*, not 5"),
        ("NodeName=DEFAULT CPUs=6\nNodeName=m1 CoresPerSocket=4", r"line 4: CPUs: must be a multiple of 4, .*, not 6"),
        ("NodeName=m1 CPUs=1 ThreadsPerCore=2", r"line 3: CPUs: must be a multiple of 2"),
        (
            "NodeName=m1 CPUs=6 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2",
            r"line 3: CPUs: must be 8 or 16, the cores or threads of the other sizes, not 6",
        ),
        ("NodeName=m1 Sockets=2 SocketsPerBoard=2", r"line 3: Sockets: must not be with both Sockets and SocketsPer"),
        ("NodeName=m1 Procs=8", r"line 3: Procs: is an unknown"),
        ("PartitionName=q Nodes=n1 State=UPP", r"line 3: State: must be UP or DOWN; others are not supported, not UPP"),
        ("PartitionName=batch Nodes=n1", r"line 3: PartitionName: is defined twice"),
        ("Licenses=a:0", r"line 3: Licenses: must be different licences .*, with counts from 1, not a:0"),
        ("Licenses=a,a:3", r"line 3: Licenses: must be different licences"),
        ("gibberish", r"line 3: gibberish: must be NAME=VALUE"),
    ],
)
def test_a_fault_is_reported_with_file_line_and_rule(line: str, message: str) -> None:
    """Unknown parameters are refused by name."""
    with pytest.raises(ConfigurationError, match=message):
        read_configuration({"slurm.conf": f"{NODES}{PARTITION}{line}\n"})


def test_lines_are_continued_values_quoted_and_defaults_kept() -> None:
    """Lines with the name DEFAULT hold for those that follow, as in slurm.conf(5)."""
    conf = read_configuration(
        {
            "slurm.conf": 'SchedulerParameters=bf_interval=5,\\\nbf_window=60 # a comment\nProlog="/a b"\n'
            "NodeName=DEFAULT CPUs=64 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=4G State=UNKNOWN\n"
            "NodeName=a[08-10] Weight=3\nNodeName=b RealMemory=1\n"
            "PartitionName=DEFAULT Nodes=ALL MaxTime=10\nPartitionName=p Default=YES\nPartitionName=q Nodes=b\n"
        }
    )
    assert (conf.scheduler.bf_interval, conf.scheduler.bf_window) == (5, 60)
    nodes = [(node.name, node.cores, node.memory, node.weight) for node in conf.nodes]
    assert nodes == [("a08", 32, 4096, 3), ("a09", 32, 4096, 3), ("a10", 32, 4096, 3), ("b", 32, 1, 1)]
    assert [(one.name, one.nodes, one.max_time) for one in conf.partitions] == [("p", 0b1111, 10), ("q", 0b1000, 10)]


def test_a_review_has_the_effect_of_each_parameter() -> None:
    """Faults do not end a review; a parameter that is given again counts once."""
    text = (
        "ClusterName=c\nKillWait=3\nPriorityMaxAge=1\nPriorityMaxAge=2\nSchedulerParameters=defer,bf_max_time=1,bf_x\n"
        "NodeName=n1 Foo=1\nPartitionName=p Nodes=n1,n2 AllowGroups=x LLN=NO\n"
    )
    found = [(use.line, use.name, use.effect) for use in review_configuration({"slurm.conf": text})]
    assert found == [
        (1, "ClusterName", "ignored"),
        (2, "KillWait", "approximated"),
        (3, "PriorityMaxAge", "ignored"),
        (4, "PriorityMaxAge", "obeyed"),
        (5, "SchedulerParameters=defer", "approximated"),
        (5, "SchedulerParameters=bf_max_time", "ignored"),
        (5, "SchedulerParameters=bf_x", "refused"),
        (6, "NodeName", "obeyed"),
        (6, "Foo", "refused"),
        (7, "AllowGroups", "approximated"),
        (7, "LLN", "ignored"),
        (7, "PartitionName", "obeyed"),
        (7, "Nodes", "refused"),
    ]


def test_a_review_ends_with_rules_on_the_whole_file() -> None:
    """They have no line."""
    last = review_configuration({"slurm.conf": "ClusterName=c\n"}, {"slurm.conf": "my.conf"})[-1]
    assert (last.file, last.line, last.effect, last.reason) == ("my.conf", 0, "refused", "are required")


def test_lists_of_nodes_are_limited_together() -> None:
    """A short file could otherwise take hours."""
    text = "NodeName=n[1-60000]\n" * 40
    with pytest.raises(ConfigurationError, match="line 34: NodeName: must not make lists of nodes longer than 2000000"):
        review_configuration({"slurm.conf": text})


@pytest.mark.parametrize(
    ("meanings", "read"),
    [
        (MEANINGS, FIELDS.keys() | CHOICES.keys() | MEMORY_FIELDS.keys()),
        (NODE_MEANINGS, NODE_FIELDS.keys() | {"nodename", *NODE_SIZES}),
        (PARTITION_MEANINGS, PARTITION_FIELDS.keys() | PARTITION_OTHERS | MEMORY_FIELDS.keys() | {"partitionname"}),
        (
            SCHEDULER_MEANINGS.keys() | SCHEDULER_APPROXIMATED.keys(),
            {field.name for field in fields(SchedulerOptions)},
        ),
    ],
)
def test_each_parameter_that_is_read_has_a_meaning(meanings: Collection[str], read: Collection[str]) -> None:
    """Those without a reader have none."""
    assert set(meanings) == set(read)


def test_limits_imply_associations() -> None:
    """As QOS do; `safe` implies limits."""
    text = f"{NODES}{PARTITION}AccountingStorageEnforce="
    assert read_configuration({"slurm.conf": f"{text}safe"}).enforce == {"safe", "limits", "associations"}
    assert read_configuration({"slurm.conf": f"{text}qos"}).enforce == {"qos", "associations"}


def test_partitions_may_name_sets_of_nodes() -> None:
    """Nodes of a list, and those with a feature, wherever the line is."""
    text = (
        "NodeName=n[1-4]\nNodeName=g[1-2] Feature=fast,gpu\n"
        "PartitionName=p Nodes=s,n4\nNodeSet=s Nodes=n1 Feature=gpu\n"
    )
    conf = read_configuration({"slurm.conf": text})
    assert [node.name for at, node in enumerate(conf.nodes) if conf.partitions[0].nodes >> at & 1] == [
        "n1",
        "n4",
        "g1",
        "g2",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gpu:2", [("gpu", "", 2)]),
        ("gpu:a100", [("gpu", "a100", 1)]),
        ("gpu:4K,mps:x:1m", [("gpu", "", 4096), ("mps", "x", 1024**2)]),
        ("gpu:3g.20gb:2", [("gpu", "3g.20gb", 2)]),
        ("gres/gpu=2", [("gpu", "", 2)]),
        ("gpu:a100:2(S:0,1),fpga", [("gpu", "a100", 2), ("fpga", "", 1)]),
        ("none", []),
    ],
)
def test_generic_resources_have_a_name_a_type_and_a_count(text: str, found: list[tuple[str, str, int]]) -> None:
    """Counts may have suffixes, powers of 1024; the sockets after them decide nothing."""
    conf = read_configuration({"slurm.conf": f"NodeName=n1 Gres={text}\n{PARTITION.replace('n[1-4]', 'n1')}"})
    assert [(one.name, one.type, one.count) for one in conf.nodes[0].gres] == found


def test_switches_have_different_names() -> None:
    """Also in one line."""
    conf = f"{NODES}{PARTITION}TopologyPlugin=topology/tree\n"
    for line, rule in (
        ("SwitchName=s Nodes=n3", "t.conf: line 2: SwitchName: is defined twice"),
        ("SwitchName=t Nodes=n3 nodes=n4", "t.conf: line 2: nodes: is given twice in one line"),
    ):
        texts = {"slurm.conf": conf, "topology.conf": f"SwitchName=s Nodes=n[1-2]\n{line}\n"}
        with pytest.raises(ConfigurationError, match=rule):
            read_configuration(texts, {"topology.conf": "t.conf"})


def test_a_review_says_whether_a_line_takes_nodes_down() -> None:
    """With the state UNKNOWN it does not."""
    text = "DownNodes=n1 State=UNKNOWN\nDownNodes=n2 Reason=fan\nDownNodes=n3 State=IDLE\n"
    uses = review_configuration({"slurm.conf": f"{text}{NODES}{PARTITION}"})
    assert [(use.line, use.name, use.effect, use.reason[:15]) for use in uses if use.line < 4] == [
        (1, "State", "ignored", "this state take"),
        (1, "DownNodes", "ignored", "this state take"),
        (2, "Reason", "ignored", "a remark"),
        (2, "DownNodes", "obeyed", "nodes that take"),
        (3, "State", "refused", "must be DOWN or"),
        (3, "DownNodes", "obeyed", "nodes that take"),
    ]
    conf = read_configuration({"slurm.conf": f"{text[: text.index('DownNodes=n3')]}{NODES}{PARTITION}"})
    assert conf.down_nodes == 0b10


def test_included_lines_are_read_in_their_place() -> None:
    """Those of a file in another one, too; lines DEFAULT hold for what follows."""
    included: dict[tuple[str, str], IncludedFile | str] = {
        ("my.conf", "nodes"): IncludedFile("nodes", b"NodeName=DEFAULT CPUs=8\nNodeName=n1\nINCLUDE more\n"),
        ("nodes", "more"): IncludedFile("more", b"NodeName=n2\nPriorityMaxAge=5\n"),
    }
    text = "PriorityMaxAge=3\nInclude nodes # the nodes\nNodeName=n3\nPartitionName=p Nodes=ALL\n"
    conf = read_configuration({"slurm.conf": text}, {"slurm.conf": "my.conf"}, included)
    assert [(node.name, node.cores) for node in conf.nodes] == [("n1", 8), ("n2", 8), ("n3", 8)]
    assert conf.max_age == 300
    uses = review_configuration({"slurm.conf": text}, {"slurm.conf": "my.conf"}, included)
    assert [(use.file, use.line, use.name, use.effect) for use in uses] == [
        ("my.conf", 1, "PriorityMaxAge", "ignored"),
        ("my.conf", 2, "Include", "obeyed"),
        ("my.conf", 3, "NodeName", "obeyed"),
        ("my.conf", 4, "PartitionName", "obeyed"),
        ("my.conf", 4, "Nodes", "obeyed"),
        ("nodes", 1, "CPUs", "obeyed"),
        ("nodes", 2, "NodeName", "obeyed"),
        ("nodes", 3, "Include", "obeyed"),
        ("more", 1, "NodeName", "obeyed"),
        ("more", 2, "PriorityMaxAge", "obeyed"),
    ]
    assert uses[0].reason == "PriorityMaxAge is given again in line 2 of more"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\nPartitionName=q Nodes=n9", "parts: line 2: Nodes: must be known nodes, not n9"),
        (b"\nFoo=1", "parts: line 2: Foo: is an unknown or unsupported parameter"),
        (b"Include ../x", "parts: line 1: Include: must not"),
        (b"Foo=\xff", "slurm.conf: line 3: Include: must name a text in UTF-8"),
    ],
)
def test_a_fault_names_the_included_file_and_its_line(content: bytes, message: str) -> None:
    """Also that of a line that is read at the end."""
    included: dict[tuple[str, str], IncludedFile | str] = {
        ("slurm.conf", "parts"): IncludedFile("parts", content),
        ("parts", "../x"): "must not",
    }
    text = f"{NODES}{PARTITION}Include parts\nPriorityMaxAge=1\n"
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        read_configuration({"slurm.conf": text}, {}, included)


def test_included_files_are_limited() -> None:
    """Eight files in each other, and a hundred together: five that include the next one twice would be 32 files."""
    chain = {(f"f{at}", f"f{at + 1}"): IncludedFile(f"f{at + 1}", f"Include f{at + 2}\n".encode()) for at in range(9)}
    with pytest.raises(ConfigurationError, match="f8: line 1: Include: must not be of more than 100 files, nor deeper"):
        read_configuration({"slurm.conf": "Include f1\n"}, {"slurm.conf": "f0"}, chain)
    twice = {
        (f"f{at}", f"f{at + 1}"): IncludedFile(f"f{at + 1}", f"Include f{at + 2}\n".encode() * 2) for at in range(6)
    } | {("f6", "f7"): IncludedFile("f7", b"")}
    with pytest.raises(ConfigurationError, match="Include: must not be of more than 100 files, nor deeper than 8"):
        read_configuration({"slurm.conf": "Include f1\n" * 2}, {"slurm.conf": "f0"}, twice)


def test_many_lines_on_many_nodes_cost_little() -> None:
    """Each of them would otherwise make all nodes anew."""
    many = 3000
    downs = "".join(f"DownNodes=ALL Reason=r{number}\n" for number in range(many))
    sets = "".join(f"NodeSet=s{number} Feature=f\n" for number in range(many))
    conf = read_configuration({"slurm.conf": f"NodeName=n[1-20000] Feature=f\n{downs}{sets}PartitionName=p Nodes=s7\n"})
    assert conf.partitions[0].nodes == conf.down_nodes == (1 << 20000) - 1


def test_memory_that_states_nothing_excludes_nothing() -> None:
    """0 and UNLIMITED, which also end what a line DEFAULT states; a default excludes no bound."""
    text = (
        f"{NODES}DefMemPerNode=0\nDefMemPerCPU=100\nMaxMemPerNode=900\n"
        "PartitionName=DEFAULT Nodes=ALL MaxMemPerCPU=200\n"
        "PartitionName=a MaxMemPerNode=300 MaxMemPerCPU=UNLIMITED\nPartitionName=b DefMemPerNode=5\n"
    )
    conf = read_configuration({"slurm.conf": text})
    assert conf.memory == MemoryBounds(def_per_cpu=100, max_per_node=900)
    assert [one.memory for one in conf.partitions] == [
        MemoryBounds(max_per_node=300),
        MemoryBounds(max_per_cpu=200, def_per_node=5),
    ]


@pytest.mark.parametrize(
    ("sizes", "cores", "cpus"),
    [
        ("CPUs=6 ThreadsPerCore=2", 3, 6),
        ("CPUs=8", 8, 8),
        ("CPUs=16 CoresPerSocket=4 ThreadsPerCore=2", 8, 16),
        ("CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 8, 16),
        ("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 8, 8),
        ("Boards=2 Sockets=2 CoresPerSocket=4", 16, 16),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=2", 16, 32),
        ("Boards=2 CoresPerSocket=4", 8, 8),
    ],
)
def test_the_sizes_of_a_node_are_taken_together(sizes: str, cores: int, cpus: int) -> None:
    """Sockets and cores follow from CPUs; with as many CPUs as cores their threads do not count."""
    (node,) = read_configuration({"slurm.conf": f"NodeName=n1 {sizes}\nPartitionName=p Nodes=ALL\n"}).nodes
    assert (node.cores, node.cpus) == (cores, cpus)


def test_a_review_refuses_a_size_once() -> None:
    """A size that contradicts others is not said to be obeyed."""
    text = "NodeName=n1 CPUs=5 ThreadsPerCore=2 Foo=1\nPartitionName=p Nodes=n1\n"
    found = [(use.name, use.effect) for use in review_configuration({"slurm.conf": text}) if use.line == 1]
    assert found == [("NodeName", "obeyed"), ("ThreadsPerCore", "obeyed"), ("CPUs", "refused"), ("Foo", "refused")]


def test_nodes_may_be_down_from_the_start() -> None:
    """By their own line or by another one."""
    text = "NodeName=n[1-3]\nNodeName=n4 State=DRAIN\nDownNodes=n2 Reason=fan\nPartitionName=p Nodes=ALL\n"
    conf = read_configuration({"slurm.conf": text})
    assert conf.down_nodes == 0b1010


def test_a_partition_has_memory_of_its_own_or_that_of_the_cluster() -> None:
    """Or that of a line DEFAULT before it; 0 and UNLIMITED state nothing."""
    text = (
        f"{NODES}DefMemPerCPU=100\nMaxMemPerNode=UNLIMITED\nPartitionName=DEFAULT Nodes=ALL MaxMemPerCPU=200\n"
        "PartitionName=a\nPartitionName=b MaxMemPerCPU=0 DefMemPerNode=1G OverSubscribe=EXCLUSIVE\n"
    )
    conf = read_configuration({"slurm.conf": text})
    assert conf.memory == MemoryBounds(def_per_cpu=100)
    assert [one.memory for one in conf.partitions] == [MemoryBounds(max_per_cpu=200), MemoryBounds(def_per_node=1024)]
    assert [one.exclusive for one in conf.partitions] == [False, True]
