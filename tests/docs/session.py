"""A shell session in a folder of its own, in which the commands of a page are run one after the other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.clone import copy
from tests.docs.pages import Block
from tests.forked.program import forked
from tests.redis_server import executable

#: A session that has not ended after so many seconds never will.
PATIENCE = 1800

#: Ends the output of a command; no program prints it.
_MARK = "\x1e"

#: What is said of language and terminal, whoever runs the tests.
_ENVIRONMENT = {"COLUMNS": "80", "LC_ALL": "C.UTF-8"}


def prepare(folder: Path, files: Sequence[Block]) -> None:
    """Make what a reader has before the first command: a clone with batsched-py installed, and the page's own files."""
    copy(folder, "platforms", "workloads")
    for file in files:
        path = folder / file.title
        assert path.resolve().is_relative_to(folder.resolve()), file.title
        assert not path.exists(), file.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
    programs = folder / ".bin"
    programs.mkdir()
    program = programs / "batsched-py"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(forked(_ENVIRONMENT))} "$@"\n')
    program.chmod(0o755)


def run(folder: Path, commands: Sequence[str], **environment: str) -> list[tuple[int, str]]:
    """Exit code and output (both streams, as on a terminal of 80 columns) of each command, as far as they came."""
    script = "".join(f"{command}\ncode=$?; printf '{_MARK}%s\\n' $code; (exit $code)\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**_environment(folder), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    return [(int(code), output) for output, code in re.findall(f"(.*?){_MARK}(\\d+)\n", done.stdout, re.DOTALL)]


def _environment(folder: Path) -> dict[str, str]:
    path = [str(folder / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    redis_server = executable()
    if redis_server is not None:  # with redis-cli beside it
        path.append(str(Path(redis_server).parent))
    return {
        "PATH": os.pathsep.join(path),
        "HOME": str(folder),
        **_ENVIRONMENT,
    }
