"""Study files can say what the options of `compare` say: each that changes results is a key, and changes runs' keys."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Final

from batsched_py.cli.commands.compare import command
from batsched_py.traces.platform_writer import write_homogeneous
from tests.studies import STUDY, planned

#: Options of `compare` that change no run: its tables, its files, its processes, its messages.
DISPLAY: Final = (
    {"names", "baseline", "metrics", "by", "level", "resamples", "tests", "precision", "differences", "quiet"}
    | {"export", "csv", "groups", "json", "latex", "methods", "figure", "figure_kind", "report", "trace_machine_states"}
    | {"processes", "timeout", "memory", "limit", "debug", "help_json"}
)
#: Options that a study file has elsewhere: in the platform's file, or as a table of an algorithm's options.
ELSEWHERE: Final = frozenset({"simgrid_config", "options_files"})
WORKLOAD: Final = """{
    "nb_res": 1,
    "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "p"}],
    "profiles": {"p": {"type": "delay", "delay": 5}}
}"""
EVENT: Final = '{"timestamp": 5.0, "type": "machine_unavailable", "resources": "0"}\n'
MODEL: Final = 'model = "lublin"\njobs = 20\n'
FCFS: Final = 'algorithm = "fcfs"'
PLATFORM: Final = 'platforms = "platforms/energy16.xml"'
BASE: Final = STUDY.replace('platforms = "p.xml"', PLATFORM).replace("1-3", "1-1")
#: Option -> a text of the study file, and what it becomes.
CHANGED: Final = {
    "platform": (PLATFORM, 'platforms = "q.xml"'),
    "files": (MODEL + 'seeds = "1-1"', 'files = "w.json"'),
    "every": (MODEL + 'seeds = "1-1"', 'log = "w.json"\nevery = "2h"'),
    "models": ("jobs = 20", "jobs = 21"),
    "loads": ("jobs = 20", "jobs = 20\nload = 0.5"),
    "seeds": ('seeds = "1-1"', 'seeds = "2-2"'),
    "schedulers": (FCFS, 'algorithm = "easy"'),
    "assignments": ("[1, 4]", "[2, 3]"),
}
#: Option -> lines of the table `settings`.
SETTINGS: Final = {
    "machines": "machines = 7",
    "master_host": 'master_host = "e01"',
    "roles": 'roles = { e01 = "storage" }',
    "protocol": 'protocol = "v5"',
    "energy": "energy = true",
    "events": 'events = "e.txt"',
    "on_failure": 'on_failure = "requeue"',
    "compute_sharing": "compute_sharing = true",
    "storage_sharing": "storage_sharing = false",
    "dynamic_jobs": "dynamic_jobs = true",
    "acknowledge_dynamic_jobs": "dynamic_jobs = true\nacknowledge_dynamic_jobs = false",
    "forward_profiles": "forward_profiles = true",
    "forward_unknown_events": "forward_unknown_events = true",
    "network": 'network = "alone"',
    "message_latency": "message_latency = true",
    "profile_reuse": "profile_reuse = true",
    "max_calls": "max_calls = 1000",
    "feedback": "feedback = true",
    "allow_oversized": "allow_oversized = true",
    "carbon": 'energy = true\ncarbon = "c.csv"',
    "price": 'energy = true\nprice = "c.csv"',
    "clock": 'clock = "fixed:1"',
}
#: Option -> lines of the table `results`.
RESULTS: Final = {
    "begin": "from = 10",
    "until": 'to = "2d"',
    "skip": 'skip = "1h"',
    "warm_up": 'warm_up = "5jobs"',
}


def test_each_option_of_compare_that_changes_results_is_a_key_of_study_files() -> None:
    """A new option is refused here until a study file can say it, or it is known to change no result."""
    said = CHANGED.keys() | SETTINGS.keys() | RESULTS.keys()
    assert {parameter.name for parameter in command.params} == said | DISPLAY | ELSEWHERE


def test_what_options_of_compare_change_has_other_keys(tmp_path: Path) -> None:
    """The keys of all runs of an algorithm whose settings, inputs or window they change."""
    write_homogeneous(tmp_path / "q.xml", 16)
    (tmp_path / "w.json").write_text(WORKLOAD)
    (tmp_path / "e.txt").write_text(EVENT)
    (tmp_path / "c.csv").write_text("time,gCO2/kWh\n0,300\n")
    texts = {name: BASE.replace(old, new) for name, (old, new) in CHANGED.items()}
    texts |= {name: f"{BASE}\n[settings]\n{lines}\n" for name, lines in SETTINGS.items()}
    texts |= {name: f"{BASE}\n[results]\n{line}\n" for name, line in RESULTS.items()}
    keys = {name: {run.key for run in planned(tmp_path, text).runs} for name, text in {"": BASE, **texts}.items()}
    alike = [(one, other) for one, other in combinations(keys, 2) if keys[one] & keys[other]]
    assert set(alike) == {("", "schedulers"), ("", "assignments")}
