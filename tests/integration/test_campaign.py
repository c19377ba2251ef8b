"""`campaign` as a process: workers of Dask here, elsewhere and in a batch system, and a program that is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import psutil
import pytest

from tests.forked.program import ANEW
from tests.integration.programs import ENVIRONMENT, PATIENCE, algorithm, run, started
from tests.studies import STUDY, written

JOBS = "[results]\njobs = true\n"
#: The body of an algorithm that tells that it runs, and never ends.
BLOCKED = "open('begun', 'w').write('.')\nwhile True: pass"


def dataset(folder: Path) -> dict[str, bytes]:
    """The files of a campaign's dataset."""
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The dataset of the study of all tests, made by one worker at a time."""
    folder = tmp_path_factory.mktemp("whole")
    written(folder, STUDY + JOBS)
    done = run(folder, "campaign", "run", "study.toml", "--workers", "1")
    assert (done.returncode, done.stderr) == (0, "")
    return dataset(folder / "study-results")


def test_the_number_of_workers_changes_no_byte(tmp_path: Path, whole: dict[str, bytes]) -> None:
    """The dataset is the same, with the jobs of each run."""
    written(tmp_path, STUDY + JOBS)
    done = run(tmp_path, "campaign", "run", "study.toml", "--workers", "3")
    assert done.stdout.splitlines() == [
        "9 runs: 9 done, 0 failed, 0 missing; 0 were there before",
        "wrote study-results/runs.parquet",
        "wrote study-results/jobs.parquet",
    ]
    assert set(whole) == {"runs.parquet", "jobs.parquet"}
    assert dataset(tmp_path / "study-results") == whole


def test_a_campaign_that_is_killed_goes_on(tmp_path: Path, whole: dict[str, bytes]) -> None:
    """At any moment, by a signal that nobody can answer; its workers end, too, and the dataset is the same."""
    study = STUDY.replace('"fcfs"', f'"{algorithm(tmp_path, BLOCKED)}"').replace("1-3", "1-8")
    written(tmp_path, study)
    os.mkfifo(tmp_path / "begun")
    with started(tmp_path, "campaign", "run", "study.toml", "--workers", "2", anew=True) as process:
        with (tmp_path / "begun").open("rb") as begun:
            assert begun.read(1) == b"."
        process.kill()
        process.wait(PATIENCE)
    written(tmp_path, STUDY + JOBS)
    assert run(tmp_path, "campaign", "run", "study.toml", "--workers", "1").returncode == 0
    assert dataset(tmp_path / "study-results") == whole


@pytest.mark.parametrize("whom", [os.kill, os.killpg], ids=["SIGINT", "a terminal's Ctrl-C"])
def test_an_interrupted_campaign_is_one_line(tmp_path: Path, whom: object) -> None:
    """No traceback of a worker, and none is left.

    Until then all processes listen nowhere: a connection to a scheduler or a worker of Dask can run code.
    """
    written(tmp_path, STUDY.replace('"fcfs"', f'"{algorithm(tmp_path, BLOCKED)}"'))
    os.mkfifo(tmp_path / "begun")
    with started(tmp_path, "campaign", "run", "study.toml", "--workers", "2", anew=True) as process:
        with (tmp_path / "begun").open("rb") as begun:
            assert begun.read(1) == b"."
        assert callable(whom)
        all_of_them = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        assert len(all_of_them) > 2
        assert [one for each in all_of_them for one in listening(each)] == []
        whom(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    line = r"batsched-py: interrupted \(SIGINT\): [0-6] of 9 runs done; the same command continues\n"
    assert re.fullmatch(line, err), err


def test_a_scheduler_that_runs_already_gives_the_same(tmp_path: Path, whole: dict[str, bytes]) -> None:
    """Its workers are used, wherever they were started, and stay."""
    written(tmp_path, STUDY + JOBS)
    with dask(tmp_path, "scheduler", "--port", "0", "--no-dashboard") as scheduler:
        address = told(scheduler, r"Scheduler at:\s*(tcp://\S+)")
        place = ("--nthreads", "1", "--no-dashboard", "--no-nanny")
        with dask(tmp_path, "worker", address, *place) as worker:
            done = run(tmp_path, "campaign", "run", "study.toml", "--scheduler", address)
            assert (done.returncode, done.stderr) == (0, "")
            assert (worker.poll(), scheduler.poll()) == (None, None)
    assert dataset(tmp_path / "study-results") == whole


#: What a batch system calls its commands, where the script of a job is, and what it prints of a job with this number;
#: and the number of workers.
BATCH_SYSTEMS = {
    "slurm": ("sbatch", "scancel", 'script=$(cat "$last")', "Submitted batch job $!", 2),
    "oar": ("oarsub", "oardel", "script=$last", "OAR_JOB_ID=$!", 1),
}
#: The configuration of dask-jobqueue for a batch system on this machine.
JOBQUEUE = (
    "cores: 1, memory: 1GB, processes: 1, interface: lo, worker-extra-args: [--no-nanny], "
    "memory-per-core-property-name: not_applicable"
)


@pytest.mark.parametrize("kind", BATCH_SYSTEMS)
def test_workers_are_jobs_of_a_batch_system(tmp_path: Path, whole: dict[str, bytes], kind: str) -> None:
    """Submitted by its own command, which is played here, with the configuration of dask-jobqueue; ended at the end."""
    submit, cancel, script, printed, workers = BATCH_SYSTEMS[kind]
    programs = tmp_path / "bin"
    programs.mkdir()
    begin = f"#!/bin/bash\nfor last; do :; done\necho . >> submitted\n{script}\n"
    job = 'setsid bash -c "$script" > worker.log 2>&1 < /dev/null &\n'
    write_program(programs / submit, f'{begin}{job}echo "{printed}"\n')
    # As a batch system does in the end: a worker whose scheduler is gone does not end by SIGTERM.
    write_program(programs / cancel, '#!/bin/bash\nfor job; do kill -KILL -- "-$job"; done\n')
    (tmp_path / "jobqueue.yaml").write_text(f"jobqueue: {{{kind}: {{{JOBQUEUE}}}}}")
    written(tmp_path, STUDY + JOBS)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**ENVIRONMENT, "PATH": path, "DASK_CONFIG": str(tmp_path)}
    done = subprocess.run(
        [*ANEW, "campaign", "run", "study.toml", "--cluster", kind, "--workers", str(workers)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert dataset(tmp_path / "study-results") == whole
    assert len((tmp_path / "submitted").read_text().splitlines()) == workers


def test_a_batch_system_that_is_not_configured_is_told(tmp_path: Path) -> None:
    """In one line, before anything is submitted."""
    written(tmp_path)
    done = run(tmp_path, "campaign", "run", "study.toml", "--cluster", "pbs")
    assert done.returncode == 2
    assert done.stderr.startswith("batsched-py: error: --cluster pbs: You must specify how much cores")
    assert done.stderr.count("\n") == 1


def test_a_scheduler_that_does_not_answer_is_told(tmp_path: Path) -> None:
    """With its address."""
    written(tmp_path)
    done = run(tmp_path, "campaign", "run", "study.toml", "--scheduler", "tcp:/127.0.0.1")
    assert done.returncode == 4
    assert done.stderr.startswith("batsched-py: error: scheduler tcp:/127.0.0.1: ")
    assert done.stderr.count("\n") == 1


def listening(process: psutil.Process) -> list[object]:
    """Return the sockets that wait for connections; none if the process has ended, as one does with its run."""
    try:
        return [one for one in process.net_connections() if one.status == psutil.CONN_LISTEN]
    except psutil.NoSuchProcess:
        return []


def write_program(path: Path, text: str) -> None:
    """A program of the test's own."""
    path.write_text(text)
    path.chmod(0o755)


@contextmanager
def dask(folder: Path, what: str, *arguments: str) -> Iterator[Popen[str]]:
    """A scheduler or a worker, on this machine alone."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", *arguments]
    with Popen(command, cwd=folder, stdout=DEVNULL, stderr=PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def told(process: Popen[str], pattern: str) -> str:
    """Return what a line of its log says."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(pattern, line):
            return found[1]
    raise AssertionError(f"{process.args!r} ended")
