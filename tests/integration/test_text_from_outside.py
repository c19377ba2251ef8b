"""Names that a peer or a file chose reach the terminal escaped, on one line, in bounded length."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import begins_data, message, submitted_data
from tests.integration.programs import ask, batsim, run, serving, types

#: Clears the screen, forges a line, writes from right to left, and is long.
HOSTILE = "\x1b[2J\n\rbatsched-py: error: forged\n\u202e\x9b31m" + "x" * 100_000
SHOWN = r"\x1b[2J\n\rbatsched-py: error: forged\n\u202e\x9b31mxxx"

#: As much of that as names in workload files may have.
NAME = "\u202egnp.exe\u2066" + "x" * 100_000
SHOWN_NAME = r"\u202egnp.exe\u2066xxx"

LARGE = submitted_data(HOSTILE, size=9, subtime=1)


def check(text: str, lines: int) -> None:
    """So many lines, each printable and short, none of them forged."""
    found = text.splitlines()
    assert len(found) == lines, found
    assert all(line.isprintable() and len(line) < 2100 for line in found)
    assert not any(line.startswith("batsched-py: error: forged") for line in found)


@pytest.mark.parametrize(
    "event",
    [
        ("JOB_SUBMITTED", LARGE),  # rejected, which is told
        ("JOB_SUBMITTED", {**LARGE, "job_id": f"w0!y{HOSTILE}"}),
        ("JOB_SUBMITTED", {"job_id": "w0!a", "job": {**submitted_data("a")["job"], "profile": [HOSTILE]}}),
        ("QUERY", {"requests": {HOSTILE: {}}}),
        (HOSTILE, {}),
        ("JOB_COMPLETED", {"job_id": HOSTILE, "job_state": HOSTILE, "return_code": 0, "alloc": HOSTILE}),
        ("RESOURCE_STATE_CHANGED", {"resources": HOSTILE, "state": HOSTILE}),
    ],
)
def test_what_a_peer_says_is_no_command_to_the_terminal(tmp_path: Path, event: tuple[str, dict[str, Any]]) -> None:
    """Ids, types, states, queries, options: a warning or an error is a line each."""
    config = {"sched-config": json.dumps({HOSTILE: 1})}
    with serving(tmp_path, "-s", "fcfs") as served, batsim(served.address) as socket:
        ask(socket, message(0.0, ("SIMULATION_BEGINS", begins_data(config=config))))
        if types(ask(socket, message(1.0, event))) != ["BATSCHED_PY_STOPPED"]:
            served.process.terminate()
        _, told = served.end()
    text = "\n".join(line for line in told if "terminated" not in line)
    check(text, 2)
    assert f"option {SHOWN}" in text


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A workload with hostile names, and a platform."""
    assert (
        run(tmp_path, "generate", "--jobs", "1", "--hosts", "4", "-o", "w.json", "--platform", "p.xml").returncode == 0
    )
    jobs = [{"id": f"{number}{NAME}", "subtime": 0, "res": 1, "walltime": 9, "profile": NAME} for number in (1, 2)]
    workload = {"nb_res": 4, "jobs": jobs, "profiles": {NAME: {"type": "delay", "delay": 1}}}
    (tmp_path / "hostile.json").write_text(json.dumps(workload))
    return tmp_path


def test_what_a_file_says_is_no_command_to_the_terminal(files: Path) -> None:
    """Ids of jobs in tables, differences and errors."""
    simulate = ["simulate", "-p", "p.xml", "-w", "hostile.json", "-e", "out/a", "--record", "a.jsonl"]
    done = run(files, *simulate, "-s", "easy", "--gantt")
    assert done.returncode == 0, done.stderr[:3000]
    assert done.stdout.replace("\n", "").isprintable()
    table = (files / "out" / "a_jobs.csv").read_text()
    assert f"1{NAME}" in table, "files have the names as they are"
    (files / "out" / "a_jobs.csv").write_text(table.replace("gnp", "\x1b[2J"))
    per_job = run(files, "metrics", "out/a", "--per-job")
    assert per_job.returncode == 0, per_job.stderr[:3000]
    assert per_job.stdout.replace("\n", "").isprintable()
    assert r"1\u202e\x1b[2J.exe" in per_job.stdout
    replayed = run(files, "replay", "a.jsonl", "-s", "sequencer")
    assert replayed.returncode == 1
    check(replayed.stdout, len(replayed.stdout.splitlines()))
    assert SHOWN_NAME in replayed.stdout


def test_an_error_about_a_file_is_a_line(files: Path) -> None:
    """Names of members, jobs, profiles; of algorithms and modules, too."""
    text = (files / "hostile.json").read_text()
    (files / "hostile.json").write_text(text.replace('"delay": 1}', '"delay": "1"}'))
    simulate = ["simulate", "-p", "p.xml", "-w"]
    for arguments in (
        [*simulate, "hostile.json", "-s", "easy"],
        [*simulate, "w.json", "-s", f"{HOSTILE[:300]}:x"],
        [*simulate, "w.json", "-s", "easy", "-o", f"{HOSTILE[:300]}=x"],
        [*simulate, "w.json", "-s", "easy", "-o", f"order={HOSTILE[:300]}:x"],
        [*simulate, f"{HOSTILE[:100]}.json", "-s", "easy"],
    ):
        done = run(files, *arguments)
        assert done.returncode == 2
        check(done.stderr, 1)


def test_a_standstill_is_a_line_for_each_job(files: Path) -> None:
    """The names of jobs, and the reasons that algorithms give, add none."""
    (files / "idle.py").write_text(
        "from batsched_py.api import *\n"
        "class Idle(Scheduler[NoOptions]):\n"
        '    name = "idle"\n'
        "    def decide(self, view, plan):\n"
        "        for job in view.queue: plan.hold(job, job.id)\n"
    )
    done = run(files, "simulate", "-p", "p.xml", "-w", "hostile.json", "-s", "idle.py:Idle")
    assert done.returncode == 3
    check(done.stderr, 3)
    debug = run(files, "simulate", "-p", "p.xml", "-w", "hostile.json", "-s", "idle.py:Idle", "--debug")
    assert debug.stderr.replace("\n", "").isprintable()
