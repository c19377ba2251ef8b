"""One run with real Batsim, the program `batsim` on the path of the worker, in place of the embedded simulator."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.campaigns.plan.run_spec import BatsimFiles
from batsched_py.campaigns.variant import Variant
from batsched_py.errors import EngineError
from batsched_py.model.platform import DEFAULT_MASTER
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import name_of
from batsched_py.reporting.schedules.members import with_members
from batsched_py.reporting.schedules.run_reader import read_schedule
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.runs.choice import Choice, make_session
from batsched_py.session.demands import check_workload
from batsched_py.session.serve import serve
from batsched_py.text.display import displayed
from batsched_py.traces.batsim_json_writer import workload_content
from batsched_py.transport.zmq_rep import RepSocket

_PROGRAM: Final = "batsim"
#: Seconds that Batsim may take to write its files after the simulation.
_PATIENCE: Final = 600.0
#: Bytes at the end of Batsim's log that are searched for the reason of a failure.
_END_OF_LOG: Final = 4000
#: Settings that are switches of Batsim -> the switch, and the value that it sets.
_SWITCHES: Final[Mapping[str, tuple[str, bool]]] = {
    "energy": ("--energy", True),
    "compute_sharing": ("--enable-compute-sharing", True),
    "storage_sharing": ("--disable-storage-sharing", False),
    "dynamic_jobs": ("--enable-dynamic-jobs", True),
    "acknowledge_dynamic_jobs": ("--acknowledge-dynamic-jobs", True),
    "forward_profiles": ("--forward-profiles-on-submission", True),
    "forward_unknown_events": ("--forward-unknown-events", True),
    "profile_reuse": ("--enable-profile-reuse", True),
}


def simulate_with_batsim(
    files: BatsimFiles,
    settings: Settings,
    workload: Workload,
    variant: Variant,
    *,
    clock: str,
    warn: Callable[[str], None],
) -> Schedule:
    """Run Batsim on copies of the files, in a temporary folder, with the algorithm of `variant`.

    EngineError if the program is missing, or if it fails (with the last lines of its log); AlgorithmError and similar
    errors for decisions.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise EngineError("batsim is not on the path of the worker: install it there, or leave simulator out")
    check_workload(variant.scheduler, workload, sharing=settings.compute_sharing)
    choice = Choice(name_of(variant.algorithm), variant.options, clock)
    session = make_session(choice, variant.scheduler, warn=warn)
    session.warn_of_endless_tasks()
    with TemporaryDirectory(prefix="batsched-py-") as name, RepSocket("tcp://127.0.0.1:*") as socket:
        folder = Path(name)
        arguments = [*_written(folder, files, workload), "--socket-endpoint", socket.address, *_switches(settings)]
        with _started([program, *arguments], folder) as process:
            socket.watch = lambda: _check(process, folder)
            serve(session, socket)
            _wait(process)
            _check(process, folder)
        schedule = read_schedule(folder / "out")
    return replace(with_members(schedule, [workload]), log_start=workload.log_start)


def _written(folder: Path, files: BatsimFiles, workload: Workload) -> Iterator[str]:
    """Write the inputs of Batsim, and yield the arguments that name them."""
    inputs = {"platform": ("platform.xml", files.platform), "workload": ("workload.json", workload_content(workload))}
    if files.events is not None:
        inputs["events"] = ("events.txt", files.events)
    for option, (name, content) in inputs.items():
        path = folder / name
        path.write_bytes(content)
        yield from (f"--{option}", str(path))
    yield from ("--export", str(folder / "out"))


def _switches(settings: Settings) -> Iterator[str]:
    yield from (switch for name, (switch, value) in _SWITCHES.items() if getattr(settings, name) is value)
    if settings.master_host != DEFAULT_MASTER:
        yield from ("--master-host", settings.master_host)
    if settings.machines is not None:
        yield from ("--mmax", str(settings.machines))
    for host, role in settings.roles.items():
        yield from ("--add-role-to-hosts", f"{host}:{role}")


@contextmanager
def _started(command: list[str], folder: Path) -> Iterator[subprocess.Popen[Any]]:
    """Start Batsim, and kill it at the end if it has not ended by then."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - the program that the user installed, on files of batsched-py
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _wait(process: subprocess.Popen[Any]) -> None:
    """Let Batsim write its files; EngineError if it does not end."""
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        raise EngineError(f"Batsim has not ended {_PATIENCE:g} s after the simulation") from None


def _check(process: subprocess.Popen[Any], folder: Path) -> None:
    """Raise EngineError if Batsim has failed."""
    code = process.poll()
    if not code:
        return
    with (folder / "log").open("rb") as log:
        log.seek(-min(_END_OF_LOG, log.seek(0, os.SEEK_END)), os.SEEK_END)
        lines = log.read().decode(errors="replace").splitlines()
    last = next((line for line in reversed(lines) if line.strip()), "")
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    raise EngineError(f"Batsim ended {how}: {displayed(last.strip())}")
