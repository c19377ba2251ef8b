"""`python -m tests.differential.pybatsim_cases ENVIRONMENT [--keep] [NAME...]`: the real pybatsim and ours.

ENVIRONMENT is that of pybatsim: `python -m venv ENVIRONMENT`, then `ENVIRONMENT/bin/pip install --no-deps
pybatsim==3.2.1 pyzmq procset sortedcontainers docopt`. Each case is run with pybatsim over a socket and in our
process. The table says whether all messages are the same, and has the processor time of both, with the simulator and
without recordings. `--keep` stores the recordings of pybatsim for the tests.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from batsched_py.transcripts.transcript import Transcript
from tests.pybatsim_runs import CASES, CLUSTER, DATA, LUBLIN, Case

#: Those that pybatsim has, which are no files of ours. Its fcfsSchedSleep stops at the first change of a pstate.
THEIRS = (
    Case("easyBackfill", "easyBackfill", CLUSTER, LUBLIN),
    Case("schedFcfs", "schedFcfs", CLUSTER, LUBLIN),
    Case("schedFiller", "schedFiller", CLUSTER, LUBLIN),
    Case("schedEasySjfBackfill", "schedEasySjfBackfill", CLUSTER, LUBLIN),
    Case("schedSendRecv", "schedSendRecv", CLUSTER, LUBLIN),
)


def main(arguments: Sequence[str]) -> int:
    """Run the cases, show the table, and tell whether all agree."""
    words = [word for word in arguments if word != "--keep"]
    if not words or not (Path(words[0]) / "bin" / "pybatsim").is_file():
        Console(stderr=True).print("usage: python -m tests.differential.pybatsim_cases ENVIRONMENT [--keep] [NAME...]")
        return 2
    table = Table(
        "case", "scheduler", "exchanges", "messages", "pybatsim", "ours", "ratio", title="pybatsim 3.2.1 and ours"
    )
    differing = 0
    for case in [one for one in (*CASES, *THEIRS) if not words[1:] or one.name in words[1:]]:
        with TemporaryDirectory() as name:
            row, same = _row(case, Path(words[0]), Path(name), keep="--keep" in arguments and case in CASES)
        table.add_row(*row)
        differing += not same
    Console(width=120).print(table)
    return int(differing > 0)


def _row(case: Case, environment: Path, folder: Path, *, keep: bool) -> tuple[list[str], bool]:
    """Return the row of a case, and whether both sides agree."""
    theirs, ours = folder / "theirs.jsonl.gz", folder / "ours.jsonl.gz"
    file = DATA / f"{case.scheduler}.py"
    if not file.is_file():
        (found,) = environment.glob(f"lib/python*/site-packages/schedulers/{case.scheduler}.py")
        file = found
    try:
        _theirs(case, environment, file, folder, ["--record", str(theirs)])
        slow = _theirs(case, environment, file, folder)
        ours_words = [*case.simulation, "-s", f"pybatsim:{file}", *case.assignments]
        _timed([*ours_words, "--record", str(ours)], folder)
        quick = _timed(ours_words, folder)
        before, after = _messages(theirs), _messages(ours)
    except (subprocess.SubprocessError, OSError) as error:
        output = getattr(error, "stderr", None) or str(error)
        return [case.name, case.scheduler, "", f"failed: {output[-300:]}", "", "", ""], False
    if keep:
        copyfile(theirs, case.recording)
    differ = [number for number, (one, other) in enumerate(zip(before, after, strict=False)) if one != other]
    same = not differ and len(before) == len(after)
    words = "the same" if same else f"differ from {differ[0] if differ else min(len(before), len(after))} on"
    row = [case.name, case.scheduler, str(len(before)), words]
    return [*row, f"{slow:.2f} s", f"{quick:.2f} s", f"{quick / slow:.2f}"], same


def _messages(recording: Path) -> list[tuple[object, object]]:
    """Return the exchanges as JSON values: requests and replies with their events in order."""
    return [(json.loads(one.request), json.loads(one.reply)) for one in Transcript(recording)]


def _theirs(case: Case, environment: Path, file: Path, folder: Path, more: Sequence[str] = ()) -> float:
    """Run a case with pybatsim over a socket; return the seconds of both processes."""
    copyfile(file, folder / file.name)
    address = f"ipc://{folder}/socket"
    options = json.dumps(dict(case.options))
    words = [environment / "bin" / "pybatsim", file.name, "-v", "error", "-s", address, "-o", options]
    silent, before = subprocess.DEVNULL, _seconds()
    with subprocess.Popen([*map(str, words)], cwd=folder, stdout=silent, stderr=silent) as process:
        try:
            _timed([*case.simulation, "--socket", address, *more], folder)
            process.wait(timeout=10)
        finally:
            process.kill()
    return _seconds() - before


def _timed(words: Sequence[str], folder: Path) -> float:
    before = _seconds()
    command = [sys.executable, "-m", "batsched_py", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    return _seconds() - before


def _seconds() -> float:
    """Return the processor time of all processes that have ended: other work on the machine does not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
