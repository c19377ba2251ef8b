"""A virtual environment with programs that read our files, or whose files we read; made when it is first needed."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

#: Current versions. batsim-py requires a pandas of 2019, and pyzmq by another name: it is installed without those.
REQUIREMENTS: Final = ("evalys==4.0.7", "pyzmq")
ALONE: Final = ("batsim-py==1.0.5",)
#: pip has not ended after so many seconds: the network is too slow.
_PATIENCE: Final = 300


def readers_python() -> Path:
    """Return the Python of the environment; the test is skipped if it cannot be made here, as without a network."""
    folder = Path(sys.prefix) / "readers"
    python, done = folder / "bin" / "python", folder / "requirements.txt"
    wanted = "\n".join((*REQUIREMENTS, *ALONE))
    with (folder.parent / "readers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (done.exists() and done.read_text() == wanted):
            _run([sys.executable, "-m", "venv", "--clear", str(folder)])
            pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            patience = ["--retries", "0", "--timeout", "20"]
            _run([*pip, *patience, *REQUIREMENTS])
            _run([*pip, *patience, "--no-deps", *ALONE])
            done.write_text(wanted)
    return python


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["no reason is known"]
        pytest.skip(f"evalys and batsim-py cannot be installed: {lines[-1]}")
    except subprocess.TimeoutExpired:
        pytest.skip("evalys and batsim-py cannot be installed: the network is too slow")
