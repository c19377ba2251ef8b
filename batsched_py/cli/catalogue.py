"""The commands, with their group in the help, their purpose, and an example.

The module `commands.NAME`, which contains the command as `command`, is imported on demand: `serve` must not wait for
the import of the simulator. A new command needs a module and a row here.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class CommandInfo(NamedTuple):
    """A command's entry in the help; `example` is the text after `batsched-py`."""

    group: str
    purpose: str
    example: str


_CLUSTER: Final = "-p platforms/cluster32.xml -w workloads/lublin200.json"

#: Group of the help -> its commands with their purposes and examples.
_GROUPS: Final = {
    "Simulations": {
        "demo": ("Simulate 200 jobs on 32 hosts, and draw a Gantt chart.", "demo"),
        "simulate": ("Simulate a workload on a platform without Batsim.", f"simulate {_CLUSTER} -s easy -e out/easy"),
        "compare": (
            "Run several algorithms on the same workloads, and compare them.",
            f"compare {_CLUSTER} -s fcfs -s easy -e out/study",
        ),
        "campaign": ("Run the many simulations of a study file, on one machine or many.", "campaign run study.toml"),
        "generate": (
            "Generate a synthetic workload, a platform for it, and failures.",
            "generate --jobs 500 --hosts 64 --seed 1 -o work.json --platform cluster.xml",
        ),
        "convert": ("Convert a log (SWF, Slurm, PBS, LSF) to a workload.", "convert log.swf -o log.json"),
        "datasets": ("List public data on jobs, with citations and commands to convert it.", "datasets kth-sp2"),
    },
    "With Batsim": {
        "serve": ("Make decisions for Batsim, over ZeroMQ.", "serve -s easy"),
        "batsim": ("Run Batsim in a container and make decisions for it.", f"batsim {_CLUSTER} -s easy"),
        "library": (
            "Make a library with which Batsim 5 decides in its own process.",
            "library -s easy -o libeasy.so",
        ),
        "shims": ("Write commands batsched and batsim, for programs that start these.", "shims out/shims"),
        "record": (
            "Record the messages between Batsim and a decision process.",
            "record run.jsonl --listen tcp://127.0.0.1:28000 --connect tcp://127.0.0.1:28001",
        ),
        "replay": ("Replay a recording with an algorithm, and compare its decisions.", "replay run.jsonl"),
        "diff": ("Compare two recorded runs.", "diff first.jsonl second.jsonl"),
    },
    "Results": {
        "metrics": ("Show the metrics of runs and logs.", "metrics out/easy"),
        "check": ("List contradictions in the results of runs.", "check out/easy"),
        "explain": ("Explain why a job waited, and which jobs overtook it.", "explain out/easy 094"),
        "report": ("Create an HTML page that shows and compares runs.", "report out/easy -o report.html"),
        "gantt": ("Draw a Gantt chart, in the terminal or for a paper.", "gantt out/easy -o gantt.pdf"),
        "plot": (
            "Plot waits, slowdowns, utilisation or queue length, for a paper.",
            "plot waits out/easy -o waits.pdf",
        ),
    },
    "Algorithms": {
        "list": ("List the available algorithms.", "list"),
        "describe": ("Show the options and the source of an algorithm.", "describe easy"),
        "new": ("Create a template for an algorithm and its tests.", "new my_algorithm.py"),
        "judge": ("Judge an algorithm: broken rules, cost of decisions, scores.", "judge easy --only unstarted"),
    },
    "Hosts, leases and experiments": {
        "query": (
            "List the hosts of a platform that match a query.",
            "query -p platforms/cluster32.xml '$id < 4'",
        ),
        "placements": (
            "Show possible placements on a platform.",
            "placements -p platforms/cluster32.xml '$id < 4' --hosts 2",
        ),
        "timeline": ("Show the timelines of the VMs of an experiment.", "timeline show vms.json"),
        "experiment": ("Validate and show the description of an experiment.", "experiment show web.json"),
        "slurm": ("Check a configuration of Slurm, fit a replay to a log, show runs of it.", "slurm check slurm.conf"),
        "haizea": ("Run a Haizea configuration, or use other files of Haizea.", "haizea my.conf"),
    },
    "A live site": {
        "site": (
            "Run a live site that accepts leases and jobs.",
            "site -p platforms/cluster32.xml --pace 60",
        ),
        "lease": ("Request, list and cancel leases at a live site.", "lease request --nodes 4 --duration 3600"),
        "reservation": ("Reserve machines at a live site for experiments.", "reservation create lab.json"),
        "queue": ("Show the queue of a live site.", "queue"),
        "hosts": ("Show the hosts of a live site.", "hosts"),
        "what-if": (
            "Play a live site ahead under a change, without making it.",
            "what-if --drain 0-3",
        ),
        "backup": ("Copy the files of a live site, which may run.", "backup 2026-11-26 --data site-data"),
        "restore": ("Put a backup of a live site back.", "restore 2026-11-26 --data site-data"),
    },
}

#: Command -> its entry in the help, in the order of the help.
COMMANDS: Final = {
    name: CommandInfo(group, purpose, example)
    for group, commands in _GROUPS.items()
    for name, (purpose, example) in commands.items()
}
