"""A command loads what it needs and no more: waiting for imports is waiting all the same."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from batsched_py import __version__
from batsched_py.builds import describe_build
from tests.integration.programs import ENVIRONMENT, PATIENCE, ROOT

PROGRAM = "import sys; from batsched_py.cli.main import run; run(sys.argv[1:]); print(*sys.modules, sep=chr(10))"

#: Another program's name for ours, which ends by itself.
SHIM = (
    "import sys, atexit; atexit.register(lambda: print(*sys.modules, sep=chr(10)));"
    "from batsched_py.cli.{} import main; main()"
)


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules that are in memory after a command."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return set(done.stdout.splitlines())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_the_program_itself_loads_no_command(tmp_path: Path, arguments: list[str]) -> None:
    """Version and help are there at once."""
    modules = loaded(tmp_path, *arguments)
    assert "batsched_py.cli.main" in modules
    ours = {f"batsched_py.{name}" for name in ("cli.commands.serve", "simulator", "schedulers")}
    assert not modules & {"zmq", "rich", "orjson", *ours}


def test_a_site_starts_without_campaigns(tmp_path: Path) -> None:
    """They have the processes of what-ifs, and are loaded with the first one."""
    modules = loaded(tmp_path, "site", "--help")
    assert "batsched_py.site.simulated" in modules
    assert not [name for name in modules if name.startswith("batsched_py.campaigns")]


@pytest.mark.parametrize("arguments", [["-v", "easy_bff"], ["--policy", "none"], ["--nonsense"]])
def test_wrong_arguments_of_batsched_load_next_to_nothing(tmp_path: Path, arguments: list[str]) -> None:
    """The refusal takes little longer than Python itself: nothing that parses messages, options or files is loaded."""
    done = subprocess.run(
        [sys.executable, "-c", SHIM.format("batsched"), *arguments],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    modules = set(done.stdout.splitlines())
    assert (done.returncode, done.stderr.startswith("batsched: error: ")) == (2, True)
    assert not modules & {"click", "msgspec", "zmq", "orjson", "json", "batsched_py.cli.main"}
    assert len([name for name in modules if name.startswith("batsched_py")]) <= 15, modules


@pytest.mark.parametrize("module", ["batsched_py", "batsched_py.cli"])
def test_the_package_is_the_program(module: str, tmp_path: Path) -> None:
    """As `python -m`, in an environment whose scripts are not on the path."""
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"batsched-py, version {__version__} ({describe_build()})\n",
        "",
    )


def test_serve_does_not_load_the_simulator(tmp_path: Path) -> None:
    """Nor what draws pictures, nor what reads files of traces."""
    modules = loaded(tmp_path, "serve", "-s", "fcfs", "-b", "nonsense")
    assert "batsched_py.transport.zmq_rep" in modules
    assert not modules & {"rich", "defusedxml", "batsched_py.simulator", "batsched_py.reporting", "batsched_py.traces"}


def test_what_draws_pictures_for_papers_is_loaded_only_for_them(tmp_path: Path) -> None:
    """The picture in the terminal does without, and so do simulations."""
    files = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]
    modules = loaded(tmp_path, "simulate", *files, "-s", "fcfs", "-e", "out/run", "--quiet")
    modules |= loaded(tmp_path, "gantt", "out/run")
    assert "batsched_py.reporting.pictures.terminal.gantt" in modules
    assert not modules & {"matplotlib", "numpy", "batsched_py.reporting.pictures.paper"}


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "interrupted (SIGINT)"),
        (signal.SIGTERM, 143, "terminated (SIGTERM)"),
        (signal.SIGHUP, 129, "hung up (SIGHUP)"),
    ],
)
def test_a_signal_during_the_imports_is_one_line(tmp_path: Path, number: signal.Signals, code: int, words: str) -> None:
    """Not a traceback: here it comes while click is being imported."""
    (tmp_path / "click.py").write_text(f"import os; os.kill(os.getpid(), {number:d})")
    done = subprocess.run(
        [sys.executable, "-m", "batsched_py.cli", "list"],
        cwd=tmp_path,
        env={**ENVIRONMENT, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"batsched-py: {words}\n")


def test_a_signal_while_another_programs_arguments_are_read_is_one_line(tmp_path: Path) -> None:
    """Such as Ctrl-C while `batsim --mmax-workload` reads a large file."""
    program = (
        "import os, signal; import batsched_py.cli.batsim as batsim;"
        "batsim._largest = lambda files, wanted: os.kill(os.getpid(), signal.SIGINT); batsim.main()"
    )
    workload, platform = ROOT / "workloads" / "first.json", ROOT / "platforms" / "tiny4.xml"
    done = subprocess.run(
        [sys.executable, "-c", program, "-p", str(platform), "-w", str(workload), "--mmax-workload"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "batsim: interrupted (SIGINT)\n")


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["generate", "--help"]])
def test_a_stdout_that_takes_nothing_is_one_line(arguments: list[str]) -> None:
    """No defect of ours: a disk that is full, say."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "batsched_py.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            text=True,
            check=False,
        )
    expected = "batsched-py: error: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, expected)
