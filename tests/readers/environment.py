"""A virtual environment with programs that read our files, or whose files we read; `make test-readers` makes it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest

#: Current versions. batsim-py requires a pandas of 2019, and pyzmq by another name: it is installed without those.
REQUIREMENTS: Final = ("evalys==4.0.7", "pyzmq")
ALONE: Final = ("batsim-py==1.0.5",)
#: pip has not ended after so many seconds: the network is too slow.
_PATIENCE: Final = 300


def readers_python() -> Path:
    """Return the Python of the environment; the test is skipped if it is not there, and cannot or need not be made."""
    folder = Path(sys.prefix) / "readers"
    reason = _make(folder)
    if reason:
        pytest.skip(f"evalys and batsim-py are not installed: {reason}")
    return folder / "bin" / "python"


@cache
def _make(folder: Path) -> str:
    """Make the environment unless it is there; return why that failed, "" if it did not. Tried once in a process."""
    done, wanted = folder / "requirements.txt", "\n".join((*REQUIREMENTS, *ALONE))
    if not os.access(folder.parent, os.W_OK):
        return f"{folder.parent} cannot be written"
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    patience = ["--retries", "0", "--timeout", "20"]
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists() and done.read_text() == wanted:
            return ""
        if "READERS" not in os.environ:
            return "make test-readers does it, over the network"
        try:
            for command in (
                [sys.executable, "-m", "venv", "--clear", str(folder)],
                [*pip, *patience, *REQUIREMENTS],
                [*pip, *patience, "--no-deps", *ALONE],
            ):
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE)
        except subprocess.CalledProcessError as error:
            lines: list[str] = error.stderr.strip().splitlines()
            return lines[-1] if lines else "no reason is known"
        except subprocess.TimeoutExpired:
            return "the network is too slow"
        done.write_text(wanted)
    return ""
