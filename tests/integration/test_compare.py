"""`compare` as a process: the same bytes whatever the number of processes, and what happens when something fails."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.programs import PATIENCE, ROOT, algorithm, run, started

PLATFORM = str(ROOT / "platforms" / "cluster32.xml")
STUDY = ("compare", "-p", PLATFORM, "--generate", "lublin:jobs=60,load=0.9", "--seeds", "1-2")
#: The same with so few jobs that only the processes count.
SMALL = ("compare", "-p", PLATFORM, "--generate", "lublin:jobs=2", "--seeds", "1-2", "--processes", "2")
FILES = ("--csv", "runs.csv", "--json", "all.json", "--latex", "table.tex")


def files(folder: Path) -> dict[str, bytes]:
    """All that was written but for what is measured, and for Python's bytecode, which has the time of its source."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("_schedule.csv", ".pyc")))
    return {path.relative_to(folder).as_posix(): unmeasured(path) for path in found}


def unmeasured(path: Path) -> bytes:
    """The content of a file; of the description of a run, without what tells one from its repetition."""
    if not path.name.endswith("_run.json"):
        return path.read_bytes()
    told = json.loads(path.read_text())
    return json.dumps({name: told[name] for name in told if name not in ("measured", "command")}).encode()


def test_the_number_of_processes_changes_no_byte(tmp_path: Path) -> None:
    """Tables, files and stored runs are the same; even for an algorithm that remembers too much."""
    seen = []
    for number in ("1", "5"):
        folder = tmp_path / number
        folder.mkdir()
        mine = algorithm(
            folder,
            "globals()['calls'] = globals().get('calls', 0) + 1\n"
            "for job in sorted(view.queue, key=lambda job: (calls * job.size) % 7):\n"
            "    hosts = plan.free.first(job.size)\n"
            "    if hosts is not None:\n"
            "        plan.start(job, hosts)",
        )
        done = run(folder, *STUDY, "-s", "easy", "-s", mine, "-s", "random", "--processes", number, *FILES, "-e", "out")
        assert (done.returncode, done.stderr.count("\n")) == (0, 1)
        seen.append((done.stdout, files(folder)))
    assert seen[0] == seen[1]
    assert "mean bounded slowdown" in seen[0][0]
    assert len([name for name in seen[0][1] if name.endswith("_jobs.csv")]) == 6
    assert len([name for name in seen[0][1] if name.endswith("_decisions.csv")]) == 6


def test_a_run_has_the_decisions_of_a_simulation(tmp_path: Path) -> None:
    """Byte for byte, so that `explain` gives the same answer."""
    assert run(tmp_path, *STUDY, "-s", "conservative", "-s", "fcfs", "-e", "out").returncode == 0
    for name in ("conservative", "fcfs"):
        workload = str(tmp_path / "out/lublin-2/workload.json")
        done = run(tmp_path, "simulate", "-p", PLATFORM, "-w", workload, "-s", name, "-e", f"alone/{name}")
        assert done.returncode == 0
        rows, alone = (
            (tmp_path / folder / f"{name}_decisions.csv").read_bytes() for folder in ("out/lublin-2", "alone")
        )
        assert rows == alone
        assert rows.count(b"\n") > 20
    last = (tmp_path / "alone/conservative_decisions.csv").read_text().splitlines()[-1].split(",")[2]
    said = [run(tmp_path, "explain", f"{folder}/conservative", last) for folder in ("out/lublin-2", "alone")]
    assert [one.returncode for one in said] == [0, 0]
    assert "at       promised" in said[0].stdout
    assert said[0].stdout == said[1].stdout


def test_an_algorithm_that_fails_leaves_the_others(tmp_path: Path) -> None:
    """One line for each run of it that failed; the one that did not makes no mean. The exit code is 3."""
    mine = algorithm(
        tmp_path,
        "if view.now > 40000:\n"
        "    raise ValueError('enough')\n"
        "for job in view.queue:\n"
        "    if job.size <= len(plan.free):\n"
        "        plan.start(job, plan.free.first(job.size))",
    )
    done = run(tmp_path, *STUDY, "-s", "easy", "-s", mine, "-s", "fcfs", *FILES, "-e", "out")
    assert done.returncode == 3
    failures = [line for line in done.stderr.splitlines() if ": error: " in line]
    assert len(failures) == 1  # on lublin-1 it ends before
    assert failures[0].startswith("batsched-py: error: mine on lublin-2: t=")
    assert "ValueError: enough (mine.py:" in failures[0]
    content = json.loads((tmp_path / "all.json").read_bytes())
    means = {entry["algorithm"]: entry["mean"] for entry in content["figures"]["mean_wait"]}
    assert means["mine"] is None
    assert means["fcfs"]["value"] >= means["easy"]["value"] > 0
    for ending in ("jobs", "decisions", "run"):
        assert len(list((tmp_path / "out").rglob(f"*_{ending}.*"))) == 5


def test_an_algorithm_that_takes_its_process_with_it_is_one_line(tmp_path: Path) -> None:
    """As when the system has no memory left for it."""
    mine = algorithm(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    done = run(tmp_path, *SMALL, "-s", "fcfs", "-s", mine)
    assert done.returncode == 3
    assert (
        "batsched-py: error: mine on 2 workloads (lublin-1, lublin-2): its process ended by SIGKILL in the middle of "
        "the run\n"
    ) in done.stderr
    assert "2 of 2" in done.stdout


def test_what_an_algorithm_prints_is_not_in_the_tables(tmp_path: Path) -> None:
    """It goes where messages go."""
    mine = algorithm(tmp_path, "print('thinking')\nfor job in view.queue:\n    plan.reject(job, 'no')")
    done = run(tmp_path, *SMALL, "-s", "fcfs", "-s", mine, "--metrics", "makespan")
    assert "thinking" not in done.stdout
    assert "thinking" in done.stderr


@pytest.mark.parametrize(
    ("number", "whom", "code", "words"),
    [
        (signal.SIGINT, os.killpg, 130, "interrupted (SIGINT)"),
        (signal.SIGTERM, os.kill, 143, "terminated (SIGTERM)"),
        (signal.SIGHUP, os.killpg, 129, "hung up (SIGHUP)"),
        (signal.SIGKILL, os.kill, -signal.SIGKILL, ""),
    ],
    ids=["a terminal's Ctrl-C", "SIGTERM", "the end of a terminal", "SIGKILL"],
)
def test_a_signal_stops_all(
    tmp_path: Path, number: signal.Signals, whom: Callable[[int, int], None], code: int, words: str
) -> None:
    """One line, no tables, no half of a file, and no process that is left, even if no line can be said."""
    mine = algorithm(
        tmp_path,
        "open(f'{os.getpid()}.pid', 'w').close()\nopen('begun', 'w').write('.')\nwhile True: pass",
    )
    os.mkfifo(tmp_path / "begun")
    command = [*SMALL, "-s", mine, "-s", "fcfs", *FILES, "-e", "out"]
    with started(tmp_path, *command, anew=True) as process:
        with (tmp_path / "begun").open("rb") as begun:
            assert begun.read(1) == b"."
        whom(process.pid, number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (code, "", words and f"batsched-py: {words}\n")
    assert not (tmp_path / "runs.csv").exists()
    if number == signal.SIGKILL:  # that all have closed their stdout says enough; who buries them is open
        return
    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
