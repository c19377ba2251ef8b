"""The readers of files: an input that each accepts, what can be added to it, and the commands that show its effect."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from batsched_py.cli.main import run
from batsched_py.haizea.sample import multi_sample, sample, sample_files
from tests.clone import ROOT
from tests.fuzz.targets import (
    DECISIONS,
    DESCRIBED,
    EVENTS,
    GOLDEN,
    HAIZEA_DATA,
    IMAGES,
    LEASE_TABLES,
    SACCT,
    SCHEDULE,
    STUDY,
    SWF,
    TIMELINES,
)
from tests.public_samples import HELIOS, PHILLY
from tests.reading.additions import (
    Additions,
    column_twice,
    columns,
    fields,
    ini_options,
    ini_twice,
    json_lines,
    json_members,
    json_twice,
    toml_members,
    xml_parts,
    xml_texts,
)

DATA: Final = ROOT / "tests" / "data"
PLATFORM: Final = ROOT / "platforms" / "energy16.xml"
TINY: Final = ROOT / "platforms" / "tiny4.xml"
WORKLOAD: Final = ROOT / "workloads" / "first.json"
JOBS: Final = (GOLDEN / "o19_machine_events" / "out_jobs.csv").read_bytes()
SCHEDULED: Final = (GOLDEN / "o19_machine_events" / "out_schedule.csv").read_bytes()
STATES: Final = (GOLDEN / "o19_machine_events" / "out_machine_states.csv").read_bytes()
OVF: Final = "{http://schemas.dmtf.org/ovf/envelope/1}"
#: Files whose content names the input by its hash, so that they always differ.
_HASHES: Final = ("_run.json",)
#: Lines with this word have times of the wall clock.
_CLOCK: Final = " measured "


@dataclass(frozen=True)
class Reader:
    """A reader of one kind of file.

    Attributes:
        name: of the kind.
        file: the name under which the input is written.
        content: an input that is accepted.
        commands: what shows its effect; FILE is the input, in a folder that also has `others`.
        additions: what is added.
        twice: what is given twice.
        without: labels of additions -> why they may have no effect. A label is a beginning.
    """

    name: str
    file: str
    content: bytes
    commands: Sequence[str]
    additions: Sequence[Additions]
    twice: Sequence[Additions] = ()
    others: Mapping[str, bytes] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)

    def outcome(self, content: bytes, folder: Path) -> object:
        """Run the commands on this content in a new folder, and return their codes, output and files."""
        folder /= "input"  # runs are called as their folders
        folder.mkdir(parents=True)
        for name, its in (*self.others.items(), (self.file, content)):
            (folder / name).write_bytes(its)
        given = {*self.others, self.file}
        printed = []
        for command in self.commands:
            stdout, stderr = io.StringIO(), io.StringIO()
            with chdir(folder), redirect_stdout(stdout), redirect_stderr(stderr):
                code = run(command.split())
            lines = [line for line in stdout.getvalue().splitlines() if _CLOCK not in line]
            printed.append((code, lines, stderr.getvalue()))
        written = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and str(path.relative_to(folder)) not in given and not path.name.endswith(_HASHES)
        }
        return printed, written


def _json(document: object) -> bytes:
    return json.dumps(document, indent=1).encode()


V5: Final = {
    "description": "one",
    "nb_res": 4,
    "jobs": [
        {"id": "a", "subtime": 0, "res": 2, "walltime": 60, "profile": "d"},
        {"id": "b", "subtime": 5, "res": 1, "profile": "c", "extra_data": "of mine"},
        {"id": "c", "subtime": 6, "res": 2, "profile": "q"},
    ],
    "profiles": {
        "d": {"type": "DelayProfile", "delay": 10},
        "c": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["d"]},
        "p": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e9, "com": 0},
        "q": {"type": "ParallelTaskProfile", "cpu": [1e9, 1e9], "com": [0, 1, 1, 0]},
    },
}
V4: Final = {
    "nb_res": 4,
    "description": "one",
    "jobs": [
        {"id": "a", "subtime": 0, "res": 2, "walltime": 60, "profile": "d"},
        {"id": "b", "subtime": 5, "res": 1, "profile": "c"},
        {"id": "c", "subtime": 6, "res": 2, "profile": "q"},
    ],
    "profiles": {
        "d": {"type": "delay", "delay": 10},
        "c": {"type": "composed", "repeat": 2, "seq": ["d"]},
        "q": {"type": "parallel", "cpu": [1e9, 1e9], "com": [0, 1, 1, 0]},
    },
}
RECORDS: Final = [{"name": "a", "mem": 512, "arch": "x86"}, {"name": "b", "mem": 64}]
CLASSES: Final = {"big": {"constraint": "$id >= 0", "duration": 60}}
RECORDING: Final = (GOLDEN / "o10_edge" / "transcript.jsonl").read_bytes()
TESTBED: Final = {
    "locations": {"epcc": {"creation_delay": {"compute": 45, "default": 5}, "address_delay": 15}},
    "instance_types": {"odd": {"cpu": 3, "vcpu": 3, "memory": 512}},
}
ON_TESTBED: Final = {
    "name": "one",
    "duration": 60,
    "resources": [{"compute": {"name": "A", "locations": ["epcc"], "instanceType": "odd"}}],
}

SIMULATE: Final = f"simulate -p {TINY} -w w.json -s fcfs"
PLATFORMS: Final = f"simulate -p p.xml -w {WORKLOAD} -s easy"
ON_ENERGY: Final = f"simulate -p {PLATFORM} -w {WORKLOAD} -s easy"
#: Members that a user adds to jobs and profiles are for algorithms, and reach them.
READERS: Final = (
    *(
        Reader(
            f"platform {path.stem}",
            "p.xml",
            path.read_bytes(),
            (PLATFORMS if path != PLATFORM else f"{PLATFORMS} -E", "query -p p.xml true"),
            (xml_parts, xml_texts),
        )
        for path in (PLATFORM, TINY, ROOT / "platforms" / "rooms16.xml")
    ),
    Reader(
        "workload",
        "w.json",
        _json(V4),
        (f"{SIMULATE} --record r.jsonl --enable-profile-reuse", "convert w.json --to v5 -o o.json"),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "workload of Batsim 5",
        "w.json",
        _json(V5),
        (f"{SIMULATE} --record r.jsonl --protocol v5", "convert w.json --to v4 -o o.json"),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "signal",
        "grid.csv",
        (DATA / "signals" / "carbon.csv").read_bytes(),
        (f"{ON_ENERGY} -E --carbon grid.csv", f"{ON_ENERGY} -o signal=grid.csv -o signal_threshold=1 -o max_delay=9"),
        (columns(","),),
        (column_twice(","),),
    ),
    Reader("SWF", "log.swf", SWF, ("convert log.swf -o w.json", "metrics log.swf"), (fields,)),
    Reader(
        "jobs in a table",
        "t.csv",
        HELIOS.encode(),
        ("convert t.csv -o w.json --demands",),
        (columns(","),),
        (column_twice(","),),
    ),
    Reader(
        "jobs of Philly",
        "log",
        _json(PHILLY[:1]),
        ("convert log -o w.json",),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "sacct",
        "s.txt",
        SACCT,
        ("convert s.txt --from sacct -o w.json --hosts 99", "metrics s.txt"),
        (columns("|"),),
        (column_twice("|"),),
    ),
    *(
        Reader(
            f"LWF {name}",
            "t.lwf",
            (DATA / "haizea" / name / "leases.lwf").read_bytes(),
            ("convert t.lwf -o w.json --platform p.xml --resources 4,CPU:100,Memory:1024",),
            (xml_parts, xml_texts),
            without={"text in description": "a description is for people"},
        )
        for name in ("multi-inst", "dl-basic", "it-cache")
    ),
    Reader(
        "images",
        "i.txt",
        IMAGES,
        (f"convert {DATA}/haizea/im-basic/leases.lwf -o w.json --imagefile i.txt",),
        (columns(" "),),
    ),
    Reader(
        "timelines", "t.json", _json(TIMELINES), ("timeline show t.json --resume 100",), (json_members,), (json_twice,)
    ),
    Reader(
        "FIREWHEEL's schedule",
        "s.json",
        _json(SCHEDULE),
        ("timeline convert --from firewheel s.json -o t.json",),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "experiment in JSON",
        "e.json",
        (DATA / "experiments" / "all.json").read_bytes(),
        ("experiment show e.json",),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "experiment in OVF",
        "e.ovf",
        (DATA / "experiments" / "all.ovf").read_bytes(),
        ("experiment show e.ovf",),
        (xml_parts, xml_texts),
        without={
            f"{what} in {OVF}ResourceAllocationSection": "the element is told of, as a whole"
            for what in ("attribute", "element", "text")
        },
    ),
    Reader(
        "testbed",
        "testbed.json",
        _json(TESTBED),
        ("experiment show e.json --testbed testbed.json",),
        (json_members,),
        (json_twice,),
        {"e.json": _json(ON_TESTBED)},
    ),
    Reader(
        "events",
        "events.txt",
        EVENTS,
        (f"{ON_ENERGY} --events events.txt --forward-unknown-events --record r.jsonl",),
        (json_lines,),
    ),
    Reader(
        "recording",
        "run.jsonl",
        RECORDING,
        ("replay run.jsonl -s fcfs", f"diff run.jsonl {GOLDEN}/o10_edge/transcript.jsonl"),
        (json_lines,),
    ),
    Reader(
        "study",
        "s.toml",
        STUDY,
        ("campaign run s.toml --dry-run",),
        (toml_members,),
        (),
        {"p.xml": PLATFORM.read_bytes(), "w.json": WORKLOAD.read_bytes(), "l.swf": SWF},
        {"line 35, inner table": "only `campaign tune` looks for the algorithm of the table `tune`"},
    ),
    Reader(
        "Haizea's configuration",
        "c.conf",
        sample(comments=False).rstrip().encode(),
        ("haizea c.conf",),
        (ini_options,),
        (ini_twice,),
        {"sample.lwf": sample_files("barebones")["sample.lwf"].encode()},
    ),
    Reader(
        "Haizea's configuration of several runs",
        "m.conf",
        multi_sample().rstrip().encode(),
        ("haizea multi -c m.conf -d out",),
        (ini_options,),
        (ini_twice,),
    ),
    Reader(
        "Haizea's data",
        "a.dat",
        _json(HAIZEA_DATA),
        ("haizea data -t per-run a.dat", "haizea data -t per-lease a.dat"),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "jobs",
        "out_jobs.csv",
        JOBS,
        ("metrics out", "gantt out"),
        (columns(","),),
        (column_twice(","),),
        {"out_schedule.csv": SCHEDULED, "out_machine_states.csv": STATES},
    ),
    Reader(
        "schedule",
        "out_schedule.csv",
        SCHEDULED,
        ("metrics out", "gantt out"),
        (columns(","),),
        (column_twice(","),),
        {"out_jobs.csv": JOBS, "out_machine_states.csv": STATES},
    ),
    Reader(
        "machine states",
        "out_machine_states.csv",
        STATES,
        ("metrics out", "gantt out"),
        (columns(","),),
        (column_twice(","),),
        {"out_jobs.csv": JOBS, "out_schedule.csv": SCHEDULED},
    ),
    Reader(
        "description of a run",
        "out_run.json",
        _json(DESCRIBED),
        ("metrics out --format json", "explain out w0!13"),
        (json_members,),
        (json_twice,),
        {"out_jobs.csv": JOBS, "out_decisions.csv": DECISIONS},
    ),
    Reader(
        "decisions",
        "out_decisions.csv",
        DECISIONS,
        ("explain out w0!1", "explain out w0!13 --json"),
        (columns(","),),
        (column_twice(","),),
        {"out_jobs.csv": JOBS},
    ),
    *(
        Reader(
            f"table of {name}",
            f"run_{name}.csv",
            LEASE_TABLES[name],
            ("metrics run", "gantt run"),
            (columns(","),),
            (column_twice(","),),
            {f"run_{other}.csv": its for other, its in LEASE_TABLES.items() if other != name},
        )
        for name in LEASE_TABLES
    ),
    Reader(
        "records",
        "r.json",
        _json(RECORDS),
        ("query --records r.json true --attributes", "query --records r.json true"),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "classes",
        "c.json",
        _json(CLASSES),
        (f"placements -p {TINY} $id<4 --classes c.json --class big",),
        (json_members,),
        (json_twice,),
    ),
    Reader(
        "options of an algorithm",
        "o.json",
        _json({"depth": 3}),
        (f"simulate -p {TINY} -w {WORKLOAD} -s backfill --options-file o.json",),
        (json_members,),
        (json_twice,),
    ),
)
