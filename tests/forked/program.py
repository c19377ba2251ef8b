"""The program batsched-py without the time that it takes to start: processes forked from one that has it loaded.

A process that starts anew takes half a second, nearly all of it for loading what the one before had loaded too, and the
tests start hundreds. These have streams, folder, environment and signals of their own all the same.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent

#: The program as a process that Python starts.
ANEW = (sys.executable, "-m", "batsched_py.cli")


def forked(environment: Mapping[str, str], *modules: str) -> Sequence[str]:
    """A command, to which the arguments are appended; Python that reads text and hashes it as in this environment.

    `modules`: what the command would load late.
    """
    matters = {name: text for name, text in environment.items() if name.startswith(("PYTHON", "LC_", "LANG"))}
    return _forked(tuple(sorted(matters.items())), modules)


@cache
def _forked(environment: tuple[tuple[str, str], ...], modules: tuple[str, ...]) -> Sequence[str]:
    """One server for all tests of this process that want the same."""
    if not hasattr(os, "pidfd_open"):  # no Linux
        return ANEW
    folder = tempfile.mkdtemp()  # a path that is short enough for a socket
    address = os.path.join(folder, "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(100)
        server = subprocess.Popen(
            [sys.executable, "-P", HERE / "server.py", str(listener.fileno()), *modules],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )

    def end() -> None:
        server.communicate()
        os.unlink(address)
        os.rmdir(folder)

    atexit.register(end)
    return [sys.executable, "-IS", str(HERE / "client.py"), address]
