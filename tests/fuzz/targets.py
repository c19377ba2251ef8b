"""The targets: inputs of one kind, as bytes, and what they are fed to."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import orjson
from hypothesis import strategies as st

from batsched_py.errors import QueryError, TransportError
from batsched_py.gym import read_weights, write_weights
from batsched_py.haizea.data import counter_table, read_data
from batsched_py.haizea.sample import multi_sample, sample, sample_files
from batsched_py.metadata.memory_store import MemoryStore
from batsched_py.model.settings import Settings
from batsched_py.model.table import csv_text
from batsched_py.plugins import load
from batsched_py.protocol.batsim5.greeting import Hello, is_greeting, write_greeting, write_hello
from batsched_py.queries.columns import Columns
from batsched_py.queries.parser import parse
from batsched_py.queries.values import Value
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.slurm.adapter.files import operator_file
from batsched_py.slurm.conf_reader import read_configuration
from batsched_py.slurm.reservation_file import read_reservations
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.transcripts.transcript import Transcript
from tests.clone import ROOT
from tests.experiment_checks import violations
from tests.experiment_workloads import ExperimentCase, experiment_cases
from tests.fuzz.http_requests import requests as requests_to_a_site
from tests.fuzz.http_requests import send
from tests.fuzz.judging import is_a_message, judged, told
from tests.fuzz.mutation import conversations, wrong_bytes, wrong_json, wrong_lines, wrong_table, wrong_xml
from tests.ha_cases import HaCase
from tests.lease_invariants import INVARIANTS, PlayedCase
from tests.lease_workloads import WITH_DEADLINES, WITH_IMAGES, WITHOUT_IMAGES
from tests.mil_queries import texts
from tests.public_samples import PHILLY, SAMPLES
from tests.unit.protocol.messages import LATER_V4, LATER_V14, OPENING_V4, OPENING_V14, document, raw

GOLDEN: Final = ROOT / "tests" / "data" / "batsim"
SLURM: Final = ROOT / "tests" / "data" / "slurm"
ACCOUNTING: Final = ROOT / "tests" / "data" / "accounting"
PLATFORMS: Final = ROOT / "platforms"
PLATFORM: Final = PLATFORMS / "energy16.xml"
CLUSTERS: Final = ROOT / "tests" / "data" / "simgrid" / "clusters.xml"
WORKLOAD: Final = ROOT / "workloads" / "first.json"
#: Workflows of WfCommons, of a late and of an early version.
WORKFLOWS: Final = (
    {
        "schemaVersion": "1.5",
        "workflow": {
            "specification": {"tasks": [{"id": "a", "children": ["b"]}, {"id": "b", "name": "n", "parents": ["a"]}]},
            "execution": {
                "tasks": [{"id": "a", "runtimeInSeconds": 3, "coreCount": 2}, {"id": "b", "runtimeInSeconds": 1.5}],
                "machines": [{"cpu": {"coreCount": 4}}],
            },
        },
    },
    {"workflow": {"jobs": [{"name": "a", "runtime": 1}, {"name": "b", "runtime": 2, "cores": 2, "parents": ["a"]}]}},
)
#: Exchanges of a run that are used: the first, with all kinds of messages but the last.
EARLY: Final = 25
#: Algorithms that decide for a peer that sends nonsense: each keeps other books.
ALGORITHMS: Final = (
    "easy", "conservative", "easy_plus_plus", "easy_idle_sleeper", "easy_dvfs", "energy_budget", "submitter",
    "ar_preempt",
)  # fmt: skip
#: Algorithms whose replies are made wrong.
REPLIERS: Final = ("easy", "submitter", "killer", "easy_idle_sleeper", "easy_dvfs", "energy_watcher", "rejecter")
#: Questions that are answered by nothing before a run is left.
PATIENT: Final = 2_000
#: Batsim 5 answers no questions.
REPLIERS_V5: Final = tuple(name for name in REPLIERS if name != "energy_watcher")
#: Runs of real Batsim 5 with the messages that algorithms of our own do not cause.
RECORDED_V5: Final = ("external_events", "kill_profiles", "call_me_later", "probes_energy", "pstates_energy")
#: What Batsim 5 says before its messages, the number of the format before the answer, and the zero after a message.
GREETING: Final = write_greeting("{}")
FORMAT: Final = write_hello(Hello("", ""))[:4]
ZERO: Final = b"\0"
#: Records that are asked.
ASKED: Final[tuple[dict[str, Value], ...]] = ({"mem": 512, "arch": "x86", "up": True}, {"mem": "010", "load": 0.5}, {})
#: A log of four jobs.
SWF: Final = b"""; MaxProcs: 8
; MaxProcs: 9 since 1998
; UnixStartTime: 0
; TimeZone: 3600
; TimeZoneString: Europe/Paris
1 0 0 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1
2 5 20 -1 2 -1 -1 2 60 -1 0 4 1 -1 1 -1 -1 -1
3 8 2 10 1 -1 -1 9 20 -1 1 7 -1 -1 -1 -1 -1 -1
4 9 3 0 -1 -1 -1 8 -1 -1 5 7 -1 -1 -1 -1 1 10
"""
#: A log whose clock starts in 1970, with fields after the 18th, and jobs that used processors and requested nodes.
EPOCH_SWF: Final = b"""; MaxNodes: 64
; UnixStartTime: 1700000000
1 1700000000 0 100 32 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1 0 7200 frontier:excl:4x8
2 1700000060 20 50 64 -1 -1 8 60 -1 0 4 1 -1 1 -1 1 600 8 100 frontier:excl:8x8
"""
#: Slurm's accounting: a job with steps, an array, a job that was requeued, and others that have no end or no beginning.
SACCT: Final = b"""JobID|User|State|Submit|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS
7|ada|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:05:00|2024-05-31T09:05:00|01:00:00|1-02:00:00|16|16
7.batch||COMPLETED|2024-05-31T08:05:00|2024-05-31T08:05:00|2024-05-31T09:05:00|01:00:00||16|16
8_1|bob|TIMEOUT|2024-05-31T08:10:00|2024-05-31T08:10:00|2024-05-31T08:40:05|00:30:05|00:30:00|4|4
8_[2-9%2]|bob|PENDING|2024-05-31T08:10:00|Unknown|Unknown|00:00:00|00:30:00|4|0
9+1|ada|NODE_FAIL|2024-05-31T08:15:00|1717143300|1717144200|00:15:00|UNLIMITED|16|16
9+1|ada|RUNNING|2024-05-31T08:30:00|2024-05-31T09:00:00|Unknown|00:05:00|UNLIMITED|16|16
10||CANCELLED by 1004|2024-05-31T08:40:00|None|2024-05-31T08:45:00|00:00:00||4|0
"""
#: Accounting of two clusters, as a spreadsheet writes it: a number that is used again, texts, and forms of all kinds.
SACCT_FORMS: Final = b"""JobID,Cluster,User,JobName,State,Submit,Start,End,Elapsed,TimelimitRaw,ReqCPUS,Reservation
7,alpha,ada,"a,b",CD,2024-05-31T08:00:00+02:00,2024-05-31 08:05,2024-05-31T09:05:00Z,1-01,4294967295,1.5K,
7,beta,ada,x,TIMEOUT,1717142400,1717142460,1717142560,01:40.5,10,4,maint
7,alpha,bob,x,OUT_OF_ME+,2024-09-01T08:00:00,2024-09-01T08:01:00,2024-09-01T08:02:40,00:01:40,10,4,
8,alpha,bob,x,NF,2024-09-01T08:00:00,2024-09-01T08:01:00,INVALID,00:01:40,10,4,
"""
#: A table of jobs with columns of all kinds.
TABLE: Final = b"""i,s,b,e,n,x,u,run
a,2024-05-31 08:00:00,2024-05-31 08:00:05.5,2024-05-31T09:00:00+02:00,4,COMPLETED,ada,1-02:03:04
b,1717142400,1717142460,1717142560,2,TIMEOUT,bob,90
c,1717142401.25,,NULL,1,RUNNING,,
"d,e",5,6,7,8,0:0,"x ""y"" z",1 day
"""
#: A configuration of Slurm with nodes, partitions, defaults, and a line that goes on.
SLURM_CONF: Final = b"""ClusterName=c
SchedulerParameters=bf_interval=5,bf_window=60,defer
PriorityType=priority/multifactor
PriorityWeightTRES=cpu=300,mem=400
PriorityDecayHalfLife=7-0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
Licenses=matlab:2
NodeName=DEFAULT CPUs=64 CoresPerSocket=16 ThreadsPerCore=2 State=UNKNOWN
NodeName=n[01-16,20] RealMemory=4G Feature=ib,big \\
  Gres=gpu:a100:2,fpga:1 Reason="not yet ready"
PartitionName=batch Nodes=n[01-16] Default=YES MaxTime=1-12:00:00 OverSubscribe=NO
PartitionName=all Nodes=ALL PriorityTier=5 AllowGroups=staff State=DOWN
"""
#: Accounts of Slurm: a dump, and a command.
SLURM_DUMP: Final = b"""add qos high priority=100 GrpTRES=cpu=24 MaxWall=1-0
Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'math':Description='m':Organization='m':Fairshare=40:QOS='high,normal'
Parent - 'math'
User - 'ada':DefaultAccount='math':Fairshare=10
User - 'bob':DefaultAccount='math':MaxJobs=1
modify user ada set qos+=high
"""
#: Reservations of Slurm, as scontrol prints them: of nodes, and of licences.
SLURM_RESERVATIONS: Final = b"""ReservationName=r StartTime=2024-05-31T09:00:00 EndTime=1717160400 Duration=02:00:00
   Nodes=n[1-2,4] NodeCnt=3 CoreCnt=12 Features=(null) PartitionName=(null) Flags=MAGNETIC,SPEC_NODES
   Users=ada,bob Groups=(null) Accounts=math Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
ReservationName=l StartTime=2024-05-31T07:00:00+02:00 EndTime=2024-05-31T08:30:00
   Nodes= NodeCnt=0 CoreCnt=0 Flags=ANY_NODES Users=(null) Accounts=math Licenses=matlab:2 MaxStartDelay=(null)
"""
#: A study file with a table of each kind.
STUDY: Final = b"""title = "all"
platforms = ["p.xml", { file = "p.xml", name = "q" }]
seeds = "1-2"
[[workloads]]
model = "lublin"
jobs = 9
load = [0.7, 0.9]
hosts = 4
seeds = "1-2,7"
[[workloads]]
files = ["w.json", "*.json"]
[[workloads]]
log = "l.swf"
name = "log"
every = "1h"
from = 0
to = 1000
processors = "used"
[[algorithms]]
algorithm = "backfill"
options = { depth = { from = 1, to = 3, step = 1 }, order = ["fcfs", "sjf"] }
[[algorithms]]
algorithm = "random"
name = "dice"
[settings]
clock = ["zero", "fixed:1"]
roles = { e03 = "storage" }
allow_oversized = true
[results]
baseline = "dice"
metrics = ["mean_wait"]
skip = "1s"
[tune]
algorithm = "easy"
options = { order = true }
trials = 3
"""
#: Images of leases.
IMAGES: Final = b"a.img 640\nb.img 1024\n# the image of each lease\n" + b"a.img\nb.img\n" * 40
#: Decisions of a run, beside the jobs of a recorded one.
DECISIONS: Final = b"""time,what,job_id,start,reason,jobs,hosts,words,submitted,size,walltime
0.000000,hosts,,,,,0-15,,,,
91.281000,promised,w0!1,357.816000,first,,,,,,
91.281000,held,w0!1,,hosts,,,"needs 16 hosts, 0 are free",,,
300.000000,down,,,,,3 7-8,,,,
375.510000,promised,w0!1,590.500000,ends,"w0!6,w0!0",,,,,
600.400000,held,w0!13,,own,,,"would add 9 W to 90 W, the cap is 95 W",,,
601.000000,withdrawn,w0!1,,failure,,,,,,
602.000000,rejected,w0!99,,,,,no,600.000000,17,100.000000
700.000000,unfinished,w0!98,650.000000,,,2-3,,600.000000,2,
700.000000,unfinished,w0!97,,,,,,600.000000,8,60.000000"""
#: The description of a run.
DESCRIBED: Final = {
    "algorithm": "easy",
    "options": {"order": "fcfs", "slack": 0.5, "reserve": None},
    "given": ["order"],
    "seed": 3,
    "platform": {"path": "p.xml", "sha256": "ab"},
    "workloads": [{"path": "w.json", "sha256": "cd", "generator": {"model": "lublin", "seed": 1}}],
    "files": [{"path": "e.txt", "sha256": None, "role": "events"}],
    "settings": {"machines": 4, "roles": {"a": "storage"}, "energy": True},
    "approximations": ["one"],
    "command": ["batsched-py", "simulate"],
    "version": "0.1.0",
    "python": "3.11",
    "dependencies": {"click": "8"},
    "results": {},
    "failure": "",
    "measured": {"started": "2026-01-02T03:04:05+00:00", "seconds": 1.5},
}
#: The tables of a lease that is suspended for a reservation, and an image that a host keeps.
LEASE_TABLES: Final = {
    "jobs": b"""job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,\
final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources
1,w0,p,0,1,3600,0,COMPLETED_KILLED,0,1768,1768,0,1768,1,0
2,w0,p,900,4,1800,1,COMPLETED_SUCCESSFULLY,1800,1800,3600,900,2700,1.5,0-3
1#1,w0,p,1768,1,1832,1,COMPLETED_SUCCESSFULLY,3632,1832,5464,1864,3696,2.02,0
""",
    "leases": b"""lease,type,state,submit_time,start_time,end_time,requested_start,deadline,nodes,requested_duration,\
run_time,waiting_time,slowdown,real_slowdown,suspensions,suspended_time,migrations,requeues,lost_time,\
alternative_start,job
1,BE,Done,0,0,5464,,,1,3600,3600,0,1.517778,1.517778,1,1800,0,0,0,,w0!1
2,AR,Done,900,1800,3600,1800,,4,1800,1800,900,1.5,1.5,0,0,0,0,0,,w0!2
""",
    "reservations": b"""lease,kind,start,end,hosts,lost
1,vm,0,1768,0,0
1,suspend,1768,1800,0,0
2,vm,1800,3600,0-3,0
1,resume,3600,3632,0,0
1,vm,3632,5464,0,0
""",
    "images": b"""image,host,start,end
a,0,82,
a,1,1800,2000.5
""",
}
#: A request for a lease in Haizea's XML.
REQUEST: Final = b"""<lease-request arrival="00:01:00"><realduration time="00:05:00"/>
<lease id="1" preemptible="true">
<nodes><node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="512"/></node-set></nodes>
<start><exact time="+00:02:00"/></start><duration time="00:10:00"/><deadline time="+01:00:00"/>
<software><disk-image id="a.img" size="64"/></software></lease></lease-request>
"""
#: What FIREWHEEL prints of two VMs.
SCHEDULE: Final = {
    "-10.0": [{"name": "a", "executable": "/bin/a", "arguments": "-x", "data": [{"location": "/f"}], "pause": False}],
    "5.0": [
        {"name": "b", "executable": None, "data": [{"location": "/log", "interval": 60}]},
        {"name": "b", "pause": {"pause_duration": 7.5}},
    ],
    "15": [{"name": "a", "executable": None, "data": [{"pause_duration": 1e9}], "pause": True, "ignore_failure": True}],
}
#: Timelines of VMs, with entries of all kinds.
TIMELINES: Final = {
    "buffer": 20, "reboot_delay": 5, "on_failed": "wait", "preload_rate": 50,
    "vms": {
        "a": [
            {"at": -10, "run": "install", "takes": 40, "exit": [10, 0]}, {"at": 10, "drop": "f", "takes": 2},
            {"at": 7, "run": "work", "kind": "amount", "with": {"amount": 60, "rate": 2}, "size": 300},
            {"at": 35, "break": True}, {"at": 60, "run": "b", "ignore_failure": True, "added": 50},
        ],
        "b": {"launch": 5, "lease": 300, "entries": [
            {"at": "-inf", "pause": 9}, {"at": 12, "transfer": "/log", "interval": 60}, {"at": 20, "resume": ["a"]},
        ]},
        "c": {"managed": False},
        "*": [{"at": 5, "pause": 1.5}],
    },
}  # fmt: skip
#: External events as a file has them.
EVENTS: Final = b"""{"type": "machine_unavailable", "resources": "0-3 5", "timestamp": 7.5}
{"type": "price", "timestamp": 20, "value": {"eur": 0.12}}
{"type": "machine_available", "resources": "0-3", "timestamp": 40}
{"type": "machine_available", "resources": "5", "timestamp": 40.5}
"""
#: What probes have counted.
HAIZEA_DATA: Final = {
    "attributes": {"profile": "a"},
    "run": {"run-end": 60.5, "x": None},
    "leases": {"Slowdown": {"1": 1.5, "2": "odd"}},
    "counters": {"N": {"average": "time-weighted", "entries": [[0, None, 0], [10, 1, 0.5], [20.5, None, 0.5]]}},
}


@dataclass(frozen=True)
class Target:
    """A kind of input: how it is made wrong, and what it is fed to, in a folder that is its own."""

    name: str
    inputs: st.SearchStrategy[bytes]
    attempt: Callable[[bytes, Path], object]


@cache
def run_of(algorithm: str, protocol: str) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The first requests and replies of a run with power states and jobs of the algorithm's own."""
    session, requests, replies = Session(load(algorithm)), [], []

    def answer(request: bytes) -> bytes:
        requests.append(request)
        replies.append(session.answer(request))
        return replies[-1]

    simulation(protocol).run(answer)
    return tuple(requests[:EARLY]), tuple(replies[:EARLY])


def simulation(protocol: str) -> Simulation:
    """The run into which replies are fed."""
    settings = Settings(
        protocol=protocol,
        energy=True,
        dynamic_jobs=protocol != "v5",  # which the answer to its greeting asks for
        forward_profiles=protocol == "v4",
    )
    return Simulation(read_platform(PLATFORM), [read_workload(WORKLOAD)], settings)


@cache
def recorded(name: str) -> tuple[bytes, ...]:
    """The first requests of a run of real Batsim."""
    exchanges = islice(Transcript(GOLDEN / name / "transcript.jsonl"), 10)
    return tuple(exchange.request for exchange in exchanges)


@cache
def recorded5(name: str, side: str) -> tuple[bytes, ...]:
    """Return the first messages of one side in a run of real Batsim 5, without its greeting."""
    lines = map(json.loads, (GOLDEN.parent / "batsim5" / f"{name}.jsonl").read_text().splitlines())
    said = (json.dumps(line["data"]).encode() for line in lines if line["from"] == side and line.get("kind") != "init")
    return tuple(islice(said, EARLY))


def requests(protocol: str) -> Iterator[Sequence[bytes]]:
    """Beginnings of conversations, as Batsim says them; those of Batsim 5 after the greeting."""
    if protocol == "v5":
        yield from (
            [request.removesuffix(ZERO) for request in run_of(algorithm, protocol)[0][1:]] for algorithm in REPLIERS_V5
        )
        yield from (recorded5(name, "batsim") for name in RECORDED_V5)
        return
    opening, later = (OPENING_V4, LATER_V4) if protocol == "v4" else (OPENING_V14, LATER_V14)
    yield raw(opening), raw(later)
    yield from (run_of(algorithm, protocol)[0] for algorithm in REPLIERS)
    if protocol == "v4":
        yield from map(recorded, ("o07_easy_bf_mixed_cluster", "o12_submitter_ack", "o19_machine_events"))


def hear(protocol: str, messages: bytes, folder: Path) -> None:
    """The algorithm that the first line names is told the others, up to the first that is refused."""
    algorithm, *said = messages.split(b"\n")
    session = Session(load(algorithm.decode()), open_store=lambda _: MemoryStore())
    if protocol == "v5":
        session.answer(GREETING)

    def listen() -> None:
        for message in said:
            is_a_message(session.answer(message).removesuffix(ZERO))
            session.check()
            if session.over:
                return

    judged(listen)


def obey(protocol: str, replies: bytes, folder: Path) -> None:
    """The simulator is told the replies, one a line, and then nothing more, until it has asked often enough.

    Batsim 5 may have been told to ask for ever, as long as jobs wait.
    """
    todo = iter(replies.split(b"\n"))
    left = iter(range(PATIENT))

    def answer(request: bytes) -> bytes:
        if is_greeting(request):
            return FORMAT + next(todo) + ZERO
        reply = next(todo, None)
        if not reply:
            if next(left, None) is None:
                raise TransportError("it was asked often enough")
            reply = orjson.dumps({"now": orjson.loads(request.removesuffix(ZERO))["now"], "events": []})
        return reply

    judged(lambda: simulation(protocol).run(answer))


def answers(protocol: str) -> Iterator[Sequence[bytes]]:
    """Beginnings of what algorithms say; the first of Batsim 5 answers its greeting, here without its format."""
    for algorithm in REPLIERS_V5 if protocol == "v5" else REPLIERS:
        yield [reply.removeprefix(FORMAT).removesuffix(ZERO) for reply in run_of(algorithm, protocol)[1]]
    if protocol == "v5":
        yield from (recorded5(name, "edc") for name in RECORDED_V5)


def cut(make: Callable[[], Iterator[Sequence[bytes]]]) -> st.SearchStrategy[bytes]:
    """These conversations with something wrong in them; they are made when the first is wanted."""
    return st.deferred(lambda: conversations(list(make())))


def to_somebody(messages: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """The name of an algorithm, and what it is told."""
    return st.builds("{}\n".format, st.sampled_from(ALGORITHMS)).flatmap(
        lambda line: messages.map(lambda said: line.encode() + said)
    )


def questions() -> Iterator[Sequence[bytes]]:
    """Yield questions at the end of a short conversation, in both dialects."""
    for kind in ("consumed_energy", "estimate_waiting_time"):
        begins, submitted = run_of("easy", "v4")[0][:2]
        asked = {"requests": {kind: {"job_id": "w0!A", "job": {"id": "w0!A", "res": 1, "walltime": 9, "profile": "p"}}}}
        yield begins, submitted, raw(document(json.loads(submitted)["now"], ("QUERY", asked)))
        begins, submitted = run_of("easy", "v1.4")[0][:2]
        yield begins, submitted, raw(document(json.loads(submitted)["now"], ("QUERY_REQUEST", asked["requests"])))


def with_file(name: str, *commands: str) -> Callable[[bytes, Path], None]:
    """Write the input under this name and run the commands, in which FILE stands for it."""

    def attempt(content: bytes, folder: Path) -> None:
        (folder / name).write_bytes(content)
        for command in commands:
            told(
                folder, *(word.format(platform=PLATFORM, workload=WORKLOAD, golden=GOLDEN) for word in command.split())
            )

    return attempt


def plan_study(content: bytes, folder: Path) -> None:
    """Plan a study on a small platform, a workload and a log."""
    for name, there in (("p.xml", PLATFORM), ("w.json", WORKLOAD)):
        (folder / name).write_bytes(there.read_bytes())
    (folder / "l.swf").write_bytes(SWF)
    with_file("s.toml", "campaign run s.toml --dry-run")(content, folder)


def run_configuration(content: bytes, folder: Path) -> None:
    """Run a configuration on the sample's requests."""
    (folder / "sample.lwf").write_text(sample_files("barebones")["sample.lwf"])
    with_file("c.conf", "haizea c.conf")(content, folder)


def count_up(content: bytes, folder: Path) -> None:
    """Make all tables of a data file."""
    with_file("a.dat", "haizea data -t per-run a.dat", "haizea data -t per-lease a.dat")(content, folder)

    def count() -> None:
        run = read_data(folder / "a.dat")
        for name in run.counters:
            csv_text(counter_table([run], name))

    judged(count)


def check_accounts(content: bytes, folder: Path) -> None:
    """Check accounts with a right configuration."""
    (folder / "s.conf").write_bytes(SLURM_CONF)
    with_file("d.txt", "slurm check s.conf --dump d.txt")(content, folder)


def show_as_slurm(content: bytes, folder: Path) -> None:
    """Show a recording as Slurm's commands do, with the configuration of the right one."""
    (folder / "s.conf").write_bytes((SLURM / "preemption.conf").read_bytes())
    commands = ("slurm squeue --start run.jsonl", "slurm sprio run.jsonl --at 60", "explain run.jsonl again --slurm")
    with_file("run.jsonl", *(f"{command} -o conf=s.conf" for command in commands))(content, folder)


def check_reservations(content: bytes, folder: Path) -> None:
    """Read reservations with a right configuration, as a run reads them."""
    del folder
    nodes = read_configuration({"slurm.conf": "NodeName=n[1-4] CPUs=4\nPartitionName=p Nodes=ALL\n"})
    zero = datetime(2024, 5, 31, tzinfo=UTC)
    judged(lambda: read_reservations(*operator_file("res.txt", content), nodes, zero))


def made_wrong(paths: Sequence[Path], wrong: Callable[[bytes], st.SearchStrategy[bytes]]) -> st.SearchStrategy[bytes]:
    """One of these files with something wrong in it."""
    return st.sampled_from(sorted(paths)).flatmap(lambda path: wrong(path.read_bytes()))


def compressed(content: bytes) -> list[bytes]:
    """A content that is compressed in each way."""
    return [gzip.compress(content, mtime=0), bz2.compress(content), lzma.compress(content)]


def file_targets() -> Iterator[Target]:
    """Return the targets for files that users give on the command line."""
    simulate = "simulate -p {platform} -w {workload} -s easy --quiet"
    yield Target(
        "platform",
        made_wrong([PLATFORM, PLATFORMS / "rooms16.xml", PLATFORMS / "tiny4.xml", CLUSTERS], wrong_xml),
        with_file("p.xml", "simulate -p p.xml -w {workload} -s easy -E --quiet"),
    )
    yield Target(
        "workload",
        made_wrong(
            [ROOT / "workloads" / f"{name}.json" for name in ("first", "mixed", "reservations")],
            lambda content: wrong_json(json.loads(content)),
        ),
        with_file("w.json", "simulate -p {platform} -w w.json -s easy --quiet"),
    )
    yield Target(
        "wfformat",
        st.sampled_from(WORKFLOWS).flatmap(wrong_json),
        with_file("w.json", "convert w.json --input-format wfformat -o v.json", "convert w.json --unit cpus -o v.json"),
    )
    yield Target(
        "swf",
        st.one_of(wrong_table(SWF, b" "), wrong_table(EPOCH_SWF, b" ")),
        with_file(
            "log.swf",
            "convert log.swf -o w.json",
            "convert log.swf -o w.json --cancelled",
            "convert log.swf -o p.json --skip 3 --every 5",
            "metrics log.swf --from 1970-01-01 --by user",
            "convert log.swf -o p.json --from 1700000030",
            "metrics log.swf",
            "gantt log.swf",
        ),
    )
    yield Target(
        "compressed",
        st.sampled_from([*compressed(SWF), *compressed(SACCT), SWF.decode().encode("utf-16")]).flatmap(wrong_bytes),
        with_file("f", "convert f -o w.json --hosts 9", "metrics f", "replay f -s easy", "simulate -p f -w f -s easy"),
    )
    yield Target(
        "sacct",
        st.one_of(wrong_table(SACCT, b"|"), wrong_table(SACCT_FORMS, b",")),
        with_file(
            "s.txt",
            "convert s.txt --input-format sacct -o w.json --hosts 99 --platform p.xml",
            "convert s.txt --input-format sacct -o v.json",
            "convert s.txt --strict -o v.json",
            "convert s.txt --slurm-members -o v.json",
            "metrics s.txt --by account",
        ),
    )
    yield Target(
        "sacct-json",
        wrong_json(json.loads((ACCOUNTING / "sacct-v0.0.41.json").read_bytes())),
        with_file(
            "s.json",
            "convert s.json --input-format sacct-json -o w.json --hosts 99",
            "convert s.json --slurm-members --demands --unit nodes --cancelled -o v.json",
            "metrics s.json --by account",
        ),
    )
    yield Target(
        "jobcomp",
        wrong_table((ACCOUNTING / "slurm_jobcomp.log").read_bytes(), b"="),
        with_file("c.log", "convert c.log --zone Europe/Paris -o w.json --hosts 99", "metrics c.log"),
    )
    yield Target(
        "pbs",
        st.one_of(
            wrong_table((ACCOUNTING / "pbs-20240531").read_bytes(), b"="),
            wrong_table((ACCOUNTING / "torque-20240531").read_bytes(), b" "),
        ),
        with_file(
            "20240531",
            f"convert 20240531 {ACCOUNTING}/pbs-20240601 --dependencies --cancelled -o w.json --hosts 99",
            "convert 20240531 --unit nodes --strict -o v.json",
            "metrics 20240531",
        ),
    )
    yield Target(
        "lsf",
        wrong_table((ACCOUNTING / "lsb.acct").read_bytes(), b" "),
        with_file("lsb.acct", "convert lsb.acct --dependencies --cancelled -o w.json --hosts 99", "metrics lsb.acct"),
    )
    yield Target(
        "csv",
        wrong_table(TABLE, b","),
        with_file(
            "t.csv",
            "convert t.csv --columns submit=s,start=b,end=e,size=n,id=i,state=x,user=u -o w.json --hosts 9",
            "convert t.csv --columns submit=s:ms,run=run,used=n --strict --keep u -o v.json",
            "convert t.csv --input-format csv -o v.json",
        ),
    )
    yield Target(
        "parquet",
        st.sampled_from([SAMPLES["pm100"], SAMPLES["kestrel"]]).flatmap(wrong_bytes),
        with_file(
            "t.parquet",
            "convert t.parquet --demands -o w.json",
            "convert t.parquet --columns submit=submit_time,run=qos:min,size=partition --strict -o v.json",
        ),
    )
    yield Target(
        "philly",
        wrong_json(PHILLY),
        with_file("jobs", "convert jobs --input-format philly -o w.json", "convert jobs --demands --strict -o v.json"),
    )
    yield Target(
        "google-2019",
        wrong_lines(SAMPLES["google-2019"]),
        with_file("e.json", "convert e.json --input-format google-2019 --keep priority -o w.json"),
    )
    yield Target(
        "slurm-conf",
        wrong_table(SLURM_CONF, b"= "),
        with_file("s.conf", "slurm check s.conf", "slurm check --json s.conf", "slurm platform s.conf -o p.xml"),
    )
    yield Target("slurm-dump", wrong_table(SLURM_DUMP, b":="), check_accounts)
    yield Target("slurm-reservations", wrong_table(SLURM_RESERVATIONS, b"= "), check_reservations)
    lease = ROOT / "tests" / "data" / "haizea"
    yield Target(
        "lwf",
        made_wrong([lease / name / "leases.lwf" for name in ("multi-inst", "dl-basic", "it-cache")], wrong_xml),
        with_file("t.lwf", "convert t.lwf -o w.json --platform p.xml --resources 4,CPU:100,Memory:1024"),
    )
    yield Target(
        "images",
        wrong_table(IMAGES, b" "),
        with_file("i.txt", f"convert {lease}/im-basic/leases.lwf -o w.json --imagefile i.txt"),
    )
    yield Target(
        "request for a lease",
        wrong_xml(REQUEST),
        with_file("r.xml", "lease request -f r.xml --url http://127.0.0.1:9 --connect-timeout 0"),
    )
    yield Target("timelines", wrong_json(TIMELINES), with_file("t.json", "timeline show t.json --resume 100"))
    yield Target(
        "firewheel",
        wrong_json(SCHEDULE),
        with_file("s.json", "timeline convert --input-format firewheel s.json -o t.json"),
    )
    deferred = "-o signal_threshold=1 -o max_delay=9"
    yield Target(
        "signal",
        wrong_table((ROOT / "tests" / "data" / "signals" / "carbon.csv").read_bytes().rstrip(), b","),
        with_file(
            "grid.csv",
            f"{simulate} --price grid.csv -E",
            f"{simulate} -o signal=grid.csv {deferred}",
        ),
    )
    yield Target("events", wrong_lines(EVENTS), with_file("events.txt", f"{simulate} --events events.txt"))
    yield Target(
        "recording",
        made_wrong([GOLDEN / name / "transcript.jsonl" for name in ("o10_edge", "o23_rejecter")], wrong_lines),
        with_file("run.jsonl", "replay run.jsonl -s fcfs", "diff run.jsonl {golden}/o10_edge/transcript.jsonl"),
    )
    yield Target("slurm-recording", made_wrong([SLURM / "preemption-v4.jsonl"], wrong_lines), show_as_slurm)
    yield Target(
        "haizea-multi",
        wrong_table(multi_sample().rstrip().encode(), b": "),
        with_file("m.conf", "haizea multi -c m.conf -d out"),
    )
    yield Target("study", wrong_table(STUDY, b"= "), plan_study)
    yield Target("haizea-conf", wrong_table(sample(comments=False).rstrip().encode(), b": "), run_configuration)
    yield Target(
        "haizea-data",
        wrong_json(HAIZEA_DATA),
        count_up,
    )
    for name in ("jobs", "schedule", "machine_states"):
        folder = GOLDEN / "o19_machine_events"
        others = {path.name: path.read_bytes() for path in folder.glob("out_*.csv")}

        def attempt(content: bytes, where: Path, name: str = name, others: dict[str, bytes] = others) -> None:
            for other, its in others.items():
                (where / other).write_bytes(its)
            with_file(f"out_{name}.csv", "metrics out", "gantt out")(content, where)

        yield Target(f"csv-{name}", wrong_table(others[f"out_{name}.csv"][:3000].rpartition(b"\n")[0], b","), attempt)
    yield Target("run-json", wrong_json(DESCRIBED), beside_two_runs)
    yield Target("csv-decisions", wrong_table(DECISIONS, b","), beside_a_run)
    yield from lease_targets()


def beside_two_runs(content: bytes, where: Path) -> None:
    """Read a description beside a run, and another run that has a right one."""
    jobs = (GOLDEN / "o19_machine_events" / "out_jobs.csv").read_bytes()
    (where / "right_run.json").write_text(json.dumps(DESCRIBED))
    for name in ("out", "right"):
        (where / f"{name}_jobs.csv").write_bytes(jobs)
    with_file("out_run.json", "metrics out right", "gantt right out", "metrics out --format json")(content, where)


def beside_a_run(content: bytes, where: Path) -> None:
    """Read decisions beside the jobs of a run, and ask why one of them waited."""
    (where / "out_jobs.csv").write_bytes((GOLDEN / "o19_machine_events" / "out_jobs.csv").read_bytes())
    with_file("out_decisions.csv", "explain out w0!1", "explain out w0!13 --json")(content, where)


def lease_targets() -> Iterator[Target]:
    """Return the targets for the tables of a run with leases, each beside the others of the run."""
    for name in ("leases", "reservations", "images"):

        def attempt(content: bytes, where: Path, name: str = name) -> None:
            for other, its in LEASE_TABLES.items():
                (where / f"run_{other}.csv").write_bytes(its)
            with_file(f"run_{name}.csv", "metrics run", "gantt run")(content, where)

        yield Target(f"csv-{name}", wrong_table(LEASE_TABLES[name], b","), attempt)


def as_bytes(case: HaCase) -> bytes:
    """A workload of leases as a file of the corpus has it."""
    return json.dumps({"leases": case.leases, "options": dict(case.options), "hosts": case.hosts}, indent=1).encode()


def keep_leases_right(content: bytes, folder: Path) -> None:
    """Play a workload of leases, which is not wrong: an invariant that does not hold is the finding."""
    case = json.loads(content)
    played = PlayedCase(HaCase(tuple(case["leases"]), options=case["options"], hosts=case["hosts"]))
    for invariant in INVARIANTS:
        invariant(played)


def keep_experiments_right(content: bytes, folder: Path) -> None:
    """Play a run of experiments, which is not wrong: what a checker of the run finds is the finding."""
    found = violations(msgspec.json.decode(content, type=ExperimentCase), folder)
    assert not found, found


def ask(content: bytes, folder: Path) -> None:  # it needs no file
    """Ask records by a text: it is a query, or an error that names a place in it."""
    text = content.decode(errors="surrogatepass")
    try:
        query = parse.__wrapped__(text)
    except QueryError as error:
        wrong = error
    else:
        columns = Columns()
        for record in ASKED:
            columns.add(record)
        columns.select(query)
        assert str(parse.__wrapped__(str(query))) == str(query)
        return
    assert 0 <= wrong.position <= len(text)
    assert wrong.rule.isprintable()


def weigh(content: bytes, folder: Path) -> None:
    """Read weights of a policy, which are arrays of numbers or an error."""
    (folder / "weights.npz").write_bytes(content)
    judged(partial(read_weights, folder / "weights.npz"))


@cache
def weights() -> bytes:
    """A file with two arrays."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "weights.npz"
        write_weights(file, {"first": [[0.5, 1.0], [2.0, 3.5]], "last": [1, 2, 3]})
        return file.read_bytes()


def make() -> Iterator[Target]:
    """All of them."""
    for protocol in ("v4", "v1.4", "v5"):
        yield Target(f"messages-{protocol}", to_somebody(cut(partial(requests, protocol))), partial(hear, protocol))
        yield Target(f"replies-{protocol}", cut(partial(answers, protocol)), partial(obey, protocol))
    yield Target("queries", to_somebody(cut(questions)), partial(hear, "v4"))
    yield from file_targets()
    yield Target("mil", texts().map(lambda text: text.encode(errors="surrogatepass")), ask)
    yield Target("weights", wrong_bytes(weights()), weigh)
    yield Target("http", requests_to_a_site(), send)
    yield Target("experiments", experiment_cases().map(msgspec.json.encode), keep_experiments_right)
    yield Target("leases", (WITHOUT_IMAGES | WITH_IMAGES | WITH_DEADLINES).map(as_bytes), keep_leases_right)


TARGETS: Final = {target.name: target for target in make()}
