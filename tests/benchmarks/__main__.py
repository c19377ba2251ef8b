"""`python -m tests.benchmarks`: what a message costs, part by part, over ZeroMQ, and as jobs and hosts become many.

How to read it. Seconds, microseconds and rates are those of this machine at this moment, and tell little elsewhere or
tomorrow. "x yardstick" is what to compare between machines, days and commits: a message's cost divided by that of a
message in a bare loop (yardstick.py: a heap, orjson both ways, bitmasks, first come first served, no checks, no types),
which is measured around each measurement. The yardstick counts both ends of the conversation: below 1.00 a part of ours
is cheaper than the bare loop as a whole, and "session + simulator" is the row that does the same work as it.

Everything is measured several times; the fastest counts, as others only take time away, and "spread" is by how much the
slowest was slower ("-": measured once). A spread above some 20 % says that the machine was busy: measure again. All
measurements are CPU seconds (time.process_time), but for messages per second over ZeroMQ, which passed on the wall; its
CPU seconds are those of the decision process alone, with the thread in which ZeroMQ sends and receives.

In the Redis table a session answers one message with many submissions, which hold the jobs or only name them; "x in the
message" is what Redis costs. On the wall the session also waits for the server, which wants a core of its own.

The table of recordings compares runs with --record with runs without it, which take turns: "costs" is the share by
which the fastest of the one kind took longer than the fastest of the other.

--constraints measures what queries of jobs for hosts cost, beside the same jobs without, in one run.

--rooms measures jobs that request parts of hosts, with three resources, one, and whole hosts, in one run.

--slurm measures the algorithm slurm next to easy, with whole nodes and cores, in one run.

--contention measures jobs that share the backbone of a cluster, with --network sharing and alone, the last on a large
machine; then jobs on machines of 1 008 hosts with different networks, and the reading of 80 640 hosts.

--library measures messages of Batsim 5 to a library in the process of a program in C, and the same over ZeroMQ.

--pybatsim measures schedulers of pybatsim in both decision processes, which are sent the same recorded messages.

--queries measures what a query costs over 16 384 records, in CPU time of this process.

--steps measures steps of the environment for learning, and the run below, in CPU time of this process.

--batsched measures the variants of the command batsched, with 1 000 jobs, next to C++.

--campaign measures a campaign of many short runs, and the same runs without it.

--experiments measures managed experiments on hosts that fail, and checks their runs.

--site measures live sites with many leases and experiments: their start, memory, requests and events.

--conversion measures `convert` on logs of several formats, next to a bare loop over the same lines.

--journeys counts the functions that a request passes; --journeys NAME lists those of one journey.

--curie measures whole runs on a large machine: what a job costs there beyond a run of a tenth of the jobs.

Two more measurements are made only when asked for, and print the tables of docs/performance.md in Markdown. --cpp runs
`serve` as a process of its own beside C++ batsched's measurements: its CPU seconds from start to end, less those of the
same process with a single job. --decisions holds a queue at one length and measures each decision: median (mean).

In the growth tables "decide" is the share of the session in "us/message" (the rest is the simulator), "queue" the most
jobs that were left waiting, "MB" the peak of the process's memory. At load 1.3 more work comes than the hosts can do:
the queue grows with the number of jobs, and a cost per message that grows with it shows there. Inputs are seeded.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

from rich.console import Console

import batsched_py
from batsched_py.plugins import available
from tests.benchmarks import (
    campaigns,
    constrained,
    contention,
    conversion,
    decisions,
    experiments,
    hooks,
    leases,
    library,
    queries,
    sites,
    slurm,
    steps,
    variants,
)
from tests.benchmarks.cpp import (
    BURST,
    MEASURED,
    RIVALS,
    compare,
    ground_line,
    measure_burst,
    measure_ground,
    table_head,
    table_row,
)
from tests.benchmarks.curie import JOBS, measure_curie
from tests.benchmarks.growth import ALGORITHMS, LOADS, SIZES, measure_growth
from tests.benchmarks.journeys import JOURNEYS, make_journey, markdown, passed
from tests.benchmarks.log import measure_log
from tests.benchmarks.parts import measure_parts
from tests.benchmarks.plot import draw, pyplot
from tests.benchmarks.recording import measure_recording
from tests.benchmarks.rooms import markdown as rooms_markdown
from tests.benchmarks.rooms import measure_rooms
from tests.benchmarks.stored import measure_stored
from tests.benchmarks.tables import (
    growth_table,
    log_summary,
    log_table,
    parts_table,
    recording_table,
    stored_table,
    whole_table,
    wire_table,
)
from tests.benchmarks.timing import Effort, apart
from tests.benchmarks.wire import measure_wire
from tests.redis_server import NONE, executable

FULL = Effort(repeats=5, budget=8.0)
QUICK = Effort(repeats=2, budget=1.0)
#: Against C++: its rows of 1 000 jobs take some 0.3 s each, those of 100 000 half a minute.
THOROUGH = Effort(repeats=9, budget=20.0)


#: Options that measure one thing only.
_SINGLE = ("batsched", "constraints", "library", "pybatsim", "queries", "rooms", "slurm")


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    effort = QUICK if arguments.quick else FULL
    console = Console(width=None if sys.stdout.isatty() else 110, highlight=False)
    print(
        f"batsched-py {batsched_py.__version__}, Python {platform.python_version()} on {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores; the fastest of {effort.repeats} or fewer"
    )
    began = time.monotonic()
    if arguments.cpp is not None:
        _compare_with_cpp(console, arguments.cpp, arguments.jobs, QUICK if arguments.quick else THOROUGH)
    elif arguments.decisions is not None:
        _measure_decisions(console, arguments.decisions, arguments.plot)
    elif arguments.leases is not None:
        _measure_leases(console, arguments.leases, effort)
    elif any(
        vars(arguments)[name]
        for name in ("batsched", "constraints", "library", "pybatsim", "queries", "rooms", "slurm")
    ):
        _measure_queries_or_library(console, arguments, effort)
    elif arguments.journeys is not None:
        _count_journeys(arguments.journeys)
    elif arguments.contention or arguments.steps:
        _measure_contention_or_steps(arguments)
    elif any(
        one is not None for one in (arguments.campaign, arguments.conversion, arguments.experiments, arguments.site)
    ):
        _measure_campaign_or_experiments(arguments)
    elif arguments.curie is not None:
        with console.status("like Curie"):
            console.print(whole_table([measure_curie(name, arguments.curie) for name in ("easy", "filler")]))
    elif arguments.trace is None:
        _measure_all(console, effort, quick=arguments.quick)
    else:
        replayed = apart(measure_log, arguments.trace, arguments.hosts, effort)
        console.print(log_table(arguments.trace.name, arguments.hosts, replayed))
        print(log_summary(replayed))
    print(f"measured in {time.monotonic() - began:.0f} s")


def _measure_all(console: Console, effort: Effort, *, quick: bool) -> None:
    jobs = 2_000 if quick else 10_000
    with console.status("parts"):
        rows = apart(measure_parts, jobs, effort)
    console.print(parts_table(rows))
    with console.status("ZeroMQ"):
        wire = apart(measure_wire, jobs, effort)
    console.print(wire_table(wire))
    if executable() is None:
        print(f"Redis: not measured; {NONE}")
    else:
        with console.status("Redis"):
            console.print(stored_table(jobs, apart(measure_stored, jobs, effort)))
    with console.status("recording"):
        recorded = apart(measure_recording, effort)
    console.print(recording_table(recorded))
    sizes = [(jobs, hosts) for jobs, hosts in SIZES if not quick or jobs < 100_000]
    for algorithm in ALGORITHMS:
        grown = []
        for count, hosts in sizes:
            for load in LOADS:
                with console.status(f"{algorithm}: {count} jobs, {hosts} hosts, load {load}"):
                    grown.append(apart(measure_growth, algorithm, count, hosts, load, effort))
        console.print(growth_table(algorithm, grown))


def _compare_with_cpp(console: Console, algorithms: str, most_jobs: int, effort: Effort) -> None:
    """Print the tables of docs/performance.md, as they stand there."""
    for algorithm in algorithms.split(","):
        with console.status(f"{algorithm}: start-up"):
            ground = apart(measure_ground, algorithm)
        print(f"\n{ground_line(algorithm, ground)}\n\n{table_head(algorithm)}", flush=True)
        for theirs in MEASURED:
            if theirs.jobs <= most_jobs:
                with console.status(f"{algorithm}: {theirs.jobs} jobs, {theirs.hosts} hosts, load {theirs.load}"):
                    compared = apart(compare, algorithm, theirs, effort)
                print(table_row(algorithm, compared, ground), flush=True)
        burst = apart(measure_burst, algorithm, effort.repeats)
        print(f"\n{algorithm}: {BURST} jobs in one message, answered after {burst * 1e3:.1f} ms")


def _measure_decisions(console: Console, algorithms: str, plot: Path | None) -> None:
    """Print the table of docs/performance.md, and draw its picture."""
    if plot is not None:
        pyplot()  # or say at once that it is missing
    rows = []
    for algorithm in algorithms.split(","):
        for hosts in decisions.HOSTS:
            for queue in decisions.QUEUES:
                with console.status(f"{algorithm}: {queue} jobs wait for {hosts} hosts"):
                    rows.append(apart(decisions.measure_decisions, algorithm, queue, hosts))
    print("\n" + "\n".join(decisions.markdown(rows)) + "\n")
    if plot is not None:
        draw(rows, plot)


def _measure_leases(console: Console, most: int, effort: Effort) -> None:
    """Print the table of docs/performance.md."""
    rows = []
    for configuration, count in leases.measured(most):
        with console.status(f"{configuration}: {count} leases"):
            rows.append(apart(leases.measure_leases, configuration, count, effort))
    print("\n" + "\n".join(leases.markdown(rows)) + "\n")


def _measure_queries_or_library(console: Console, arguments: argparse.Namespace, effort: Effort) -> None:
    if arguments.pybatsim:
        jobs = 1_000 if arguments.quick else 5_000
        lines = hooks.markdown(apart(hooks.measure_hooks, arguments.pybatsim.absolute(), jobs, effort))
    elif arguments.batsched:
        lines = variants.markdown(apart(variants.measure_variants, 1_000, 128, effort))
    elif arguments.library:
        lines = library.markdown(apart(library.measure_library, 2_000 if arguments.quick else 10_000, effort))
    elif arguments.rooms:
        count = 2_000 if arguments.quick else 10_000
        lines = rooms_markdown(measure_rooms(count, repeats=1 if arguments.quick else 2), count)
    elif arguments.slurm:
        lines = slurm.markdown(
            [
                apart(slurm.measure_slurm, kind, nodes, load, jobs)
                for kind, nodes, load, numbers in slurm.CASES
                for jobs in (numbers[:1] if arguments.quick else numbers)
            ]
        )
    elif arguments.constraints:
        with console.status("queries of jobs"):
            lines = constrained.markdown(constrained.measure_constrained(repeats=1 if arguments.quick else 3))
    else:
        lines = queries.markdown(queries.measure_queries(repeats=3 if arguments.quick else 9))
    print("\n" + "\n".join(lines) + "\n")


def _count_journeys(name: str) -> None:
    """Print the table of all journeys, or the functions of one."""
    lines = list(passed(make_journey(name)) if name else markdown(map(make_journey, JOURNEYS)))
    print("\n" + "\n".join(lines) + "\n")


def _measure_contention_or_steps(arguments: argparse.Namespace) -> None:
    quick = arguments.quick
    if arguments.contention:
        repeats = 1 if quick else 3
        lines = [*contention.markdown(contention.measure_contention(repeats=repeats)), ""]
        lines += [*contention.large_markdown(*contention.measure_large(repeats)), ""]
        lines += contention.networks_markdown(contention.measure_networks(repeats), contention.measure_reading(repeats))
    else:
        lines = list(steps.markdown(steps.measure_steps(repeats=1 if quick else 5)))
    print("\n" + "\n".join(lines) + "\n")


def _measure_campaign_or_experiments(arguments: argparse.Namespace) -> None:
    if arguments.site is not None:
        sizes_of_sites = [size for size in sites.SIZES if max(size) <= arguments.site]
        lines = list(sites.markdown([sites.measure_site(*size) for size in sizes_of_sites]))
    elif arguments.conversion is not None:
        rows = arguments.conversion
        lines = list(conversion.markdown([conversion.measure_conversion(name, rows) for name in conversion.FORMS]))
    elif arguments.campaign is not None:
        lines = list(campaigns.markdown(campaigns.measure_campaign(arguments.campaign)))
    else:
        sizes = [size for size in experiments.SIZES if size <= arguments.experiments]
        lines = list(experiments.markdown([experiments.measure_experiments(size) for size in sizes]))
    print("\n" + "\n".join(lines) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, no 100 000 jobs: under a minute")
    parser.add_argument(
        "--cpp",
        nargs="?",
        const=",".join(RIVALS),
        metavar="ALGORITHM,...",
        help=f"only compare `serve` with C++ batsched, as Markdown; all of {','.join(RIVALS)} if none is named",
    )
    parser.add_argument(
        "--campaign",
        nargs="?",
        const=campaigns.RUNS,
        type=int,
        metavar="RUNS",
        help="only measure a campaign of so many runs, as Markdown",
    )
    parser.add_argument(
        "--conversion",
        nargs="?",
        const=conversion.ROWS,
        type=int,
        metavar="ROWS",
        help="only measure the conversion of logs with so many rows, as Markdown",
    )
    parser.add_argument(
        "--experiments",
        nargs="?",
        const=experiments.SIZES[-1],
        type=int,
        metavar="N",
        help="only measure managed experiments, at most N, as Markdown",
    )
    parser.add_argument(
        "--site",
        nargs="?",
        const=sites.SIZES[-1][0],
        type=int,
        metavar="N",
        help="only measure live sites with at most N leases, as Markdown",
    )
    parser.add_argument("--jobs", type=int, default=100_000, metavar="N", help="with --cpp: rows of at most N jobs")
    parser.add_argument(
        "--decisions",
        nargs="?",
        const=",".join(decisions.ALGORITHMS),
        metavar="ALGORITHM,...",
        help="only measure decisions as queue and hosts become many, as Markdown; "
        f"of {','.join(decisions.ALGORITHMS)} if none is named",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="with --decisions: draw them (extra: plot)")
    parser.add_argument(
        "--leases",
        nargs="?",
        type=int,
        const=leases.SIZES[-1],
        metavar="N",
        help="only measure runs of leases, up to N of them, as Markdown",
    )
    parser.add_argument(
        "--constraints",
        action="store_true",
        help="only measure jobs with queries for hosts, as Markdown; runs are checked",
    )
    parser.add_argument("--rooms", action="store_true", help="only measure jobs that share hosts, as Markdown")
    parser.add_argument("--slurm", action="store_true", help="only measure the algorithm slurm, as Markdown")
    parser.add_argument("--steps", action="store_true", help="only measure the environment for learning, as Markdown")
    parser.add_argument("--contention", action="store_true", help="only measure jobs that share links, as Markdown")
    parser.add_argument("--batsched", action="store_true", help="only measure the command batsched, as Markdown")
    parser.add_argument("--library", action="store_true", help="only measure a library for Batsim 5, as Markdown")
    parser.add_argument(
        "--pybatsim",
        type=Path,
        metavar="ENVIRONMENT",
        help="only measure schedulers of the pybatsim 3.2.1 of this virtual environment, as Markdown",
    )
    parser.add_argument("--queries", action="store_true", help="only measure queries over many records, as Markdown")
    parser.add_argument(
        "--journeys",
        nargs="?",
        const="",
        choices=("", *JOURNEYS),
        metavar="NAME",
        help=f"only count the functions that requests pass, as Markdown; list those of one of {', '.join(JOURNEYS)}",
    )
    parser.add_argument(
        "--curie",
        nargs="?",
        type=int,
        const=JOBS,
        metavar="JOBS",
        help=f"only measure whole runs of a workload like Curie's on 80 640 hosts; {JOBS} jobs if no number is given",
    )
    parser.add_argument("--trace", type=Path, metavar="LOG.swf.gz", help="only measure this log, end to end")
    parser.add_argument("--hosts", type=int, metavar="N", help="size of the log's machine")
    arguments = parser.parse_args()
    if (arguments.trace is None) != (arguments.hosts is None):
        parser.error("--trace and --hosts go together")
    if arguments.trace is not None and not arguments.trace.is_file():
        parser.error(f"{arguments.trace}: no such file")
    for option, names, known in (("--cpp", arguments.cpp, RIVALS), ("--decisions", arguments.decisions, available())):
        unknown = [name for name in (names or "").split(",") if name not in known]
        if names is not None and unknown:
            parser.error(f"{option}: {', '.join(unknown)!r} is none of {', '.join(known)}")
    return arguments


if __name__ == "__main__":
    main()
