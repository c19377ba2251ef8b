"""A Docker engine of the tests' own: started in a folder of its own, and gone without a trace at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

import docker
import pytest

#: Fast where the kernel has it, and slow everywhere.
STORAGE_DRIVERS = ("overlay2", "vfs")

#: Bytes that all images need where each layer is a full copy.
ROOM = 4 * 10**9

#: The line of an engine that is ready.
READY = "API listen on"


@dataclass(frozen=True, slots=True)
class Engine:
    """One that answers."""

    address: str
    client: docker.DockerClient

    def containers(self) -> list[str]:
        """The names of all that exist, running or not."""
        return [str(container.name) for container in self.client.containers.list(all=True)]


def program() -> str:
    """The engine's; the test is skipped where none can run."""
    found = shutil.which("dockerd", path=_path())
    if found is None:
        pytest.skip("needs a Docker engine: apt-get install docker.io")
    if os.geteuid() != 0:
        pytest.skip("a Docker engine can only be started by root")
    if shutil.which("busybox") is None:
        pytest.skip("needs a shell for images: apt-get install busybox-static")
    return found


def _path() -> str:
    """Return PATH with the folders of system programs: dockerd is there, and those that it starts."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))


@contextmanager
def running() -> Iterator[Engine]:
    """An engine, with nothing in it; the test is skipped if the kernel refuses one."""
    command = program()
    _sweep(Path(_place()))
    # Short, for a socket's address has at most 107 letters.
    folder = Path(tempfile.mkdtemp(prefix=f"dk{os.getpid()}-", dir=_place()))
    try:
        said: list[str] = []
        for driver in STORAGE_DRIVERS:
            with _started(command, folder, driver, said) as ready:
                if ready:
                    address = f"unix://{folder}/sock"
                    with closing(docker.DockerClient(address)) as client:
                        yield Engine(address, client)
                        for container in client.containers.list(all=True):
                            container.remove(force=True, v=True)
                    return
        why = [line for line in said if line.startswith("failed")] or said or ["it says nothing"]
        pytest.skip(f"no Docker engine can run here: {why[-1]}")
    finally:
        _unmount(folder)
        shutil.rmtree(folder)


def _sweep(place: Path) -> None:
    """Remove what test runs left that were killed, whose engines have ended with them."""
    for folder in place.glob("dk*-*"):
        owner = folder.name[2:].partition("-")[0]
        engine = folder / "pid"
        pids = [owner, engine.read_text().strip() if engine.exists() else ""]
        if owner.isdecimal() and not any(pid and Path("/proc", pid).exists() for pid in pids):
            _unmount(folder)
            shutil.rmtree(folder, ignore_errors=True)  # another run may be sweeping, too


def _place() -> str:
    """Memory if there is enough of it: an engine writes and deletes thousands of files, and nothing need survive."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and shutil.disk_usage(memory).free > ROOM else tempfile.gettempdir()


@contextmanager
def _started(command: str, folder: Path, driver: str, said: list[str]) -> Iterator[bool]:
    """True once it can be asked; False if it has ended instead."""
    options = ["--iptables=false", "--ip6tables=false", "--bridge=none", f"--storage-driver={driver}"]
    limits = ["--shutdown-timeout=1"]
    places = [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]
    with_us = [setpriv, "--pdeathsig", "TERM"] if (setpriv := shutil.which("setpriv")) else []  # if we are killed
    process = subprocess.Popen(
        [*with_us, command, *options, *limits, *places, "-H", f"unix://{folder}/sock"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": _path()},
    )
    assert process.stderr is not None
    try:
        ready = _listen(process.stderr, said)
        reader = Thread(target=_listen, args=(process.stderr, said, "never said"))
        reader.start()
        yield ready
    finally:
        process.terminate()
        process.wait()
        reader.join()
        process.stderr.close()


def _listen(stream: IO[str], said: list[str], until: str = READY) -> bool:
    """Read on; True when it says so, False at its end."""
    for line in stream:
        said.append(line.strip())
        if until in line:
            return True
    return False


def _unmount(folder: Path) -> None:
    """Unmount what an engine left mounted, the deepest first."""
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for place in sorted((mount for mount in mounts if mount.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", place], check=True)
