"""The commands: in which group of the help each stands, what it is for, and an example.

The module `commands.NAME`, which has the command as `command`, is imported when needed: `serve` must not wait for the
simulator. A new command is such a module and a row here.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class CommandInfo(NamedTuple):
    """A command as the help shows it; `example` is what stands behind `batsched-py`."""

    group: str
    purpose: str
    example: str


_CLUSTER: Final = "-p platforms/cluster32.xml -w workloads/lublin200.json"

#: Group of the help -> its commands with their purposes and examples.
_GROUPS: Final = {
    "Simulations": {
        "demo": ("Simulate 200 jobs on 32 hosts, and draw what happened.", "demo"),
        "simulate": ("Run a workload on a platform without Batsim.", f"simulate {_CLUSTER} -s easy -e out/easy"),
        "compare": (
            "Run several algorithms on the same workloads, and compare them.",
            f"compare {_CLUSTER} -s fcfs -s easy -e out/study",
        ),
        "generate": (
            "Make a synthetic workload, a platform to run it, and failures.",
            "generate --jobs 500 --hosts 64 --seed 1 -o work.json --platform cluster.xml",
        ),
        "convert": ("Make a workload from a log in SWF or of Slurm.", "convert log.swf -o log.json"),
    },
    "Beside Batsim": {
        "serve": ("Decide for Batsim, over ZeroMQ.", "serve -s easy"),
        "batsim": ("Run Batsim in a container and decide for it.", f"batsim {_CLUSTER} -s easy"),
        "record": (
            "Record what a Batsim and a decision process say to each other.",
            "record run.jsonl --listen tcp://127.0.0.1:28000 --connect tcp://127.0.0.1:28001",
        ),
        "replay": ("Ask an algorithm again what a recording asked, and compare.", "replay run.jsonl"),
        "diff": ("Compare what happened in two recorded runs.", "diff first.jsonl second.jsonl"),
    },
    "Results": {
        "metrics": ("Show the figures of runs: Batsim's, ours, or a log's.", "metrics out/easy"),
        "explain": ("Show why a job of a run waited, and who overtook it.", "explain out/easy 094"),
        "report": ("Show runs on a page, and what differs between them.", "report out/easy -o report.html"),
        "gantt": ("Draw which jobs ran on which hosts, here or for a paper.", "gantt out/easy -o gantt.pdf"),
        "plot": (
            "Draw waits, slowdowns, utilisation or queue of runs, for a paper.",
            "plot waits out/easy -o waits.pdf",
        ),
    },
    "Algorithms": {
        "list": ("Show the algorithms there are.", "list"),
        "describe": ("Show an algorithm's options and its source.", "describe easy"),
        "new": ("Write the beginning of an algorithm, and its tests.", "new my_algorithm.py"),
    },
    "Hosts, leases and experiments": {
        "query": (
            "Show the hosts of a platform for which a query is true.",
            "query -p platforms/cluster32.xml '$id < 4'",
        ),
        "placements": (
            "Show where something could be placed on a platform.",
            "placements -p platforms/cluster32.xml '$id < 4' --hosts 2",
        ),
        "timeline": ("Show what happens when in the VMs of an experiment.", "timeline show vms.json"),
        "experiment": ("Show what a descriptor of an experiment asks for.", "experiment show web.json"),
        "haizea": ("Run a configuration of Haizea, or work with other files of Haizea.", "haizea my.conf"),
    },
    "A live site": {
        "site": (
            "Run a live site, to which people hand in leases and jobs.",
            "site -p platforms/cluster32.xml --pace 60",
        ),
        "lease": ("Ask a live site for leases, list them, take them back.", "lease request --nodes 4 --duration 3600"),
        "queue": ("Show what waits at a live site.", "queue"),
        "hosts": ("Show the hosts of a live site.", "hosts"),
    },
}

#: Command -> what the help says of it, in the order of the help.
COMMANDS: Final = {
    name: CommandInfo(group, purpose, example)
    for group, commands in _GROUPS.items()
    for name, (purpose, example) in commands.items()
}
