"""Root file systems of images, made of programs of this machine: no registry is needed, nor reached."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import zmq.backend.cython

#: Parts of a Python's library that neither pip nor batsched-py needs.
_LEFT_OUT = re.compile(
    r".*\.opt-\d\.pyc|test|tests|idlelib|tkinter|turtledemo|lib2to3|site-packages|config-.*|_tkinter.*"
)
_APPLETS = ("sh", "cat", "chown", "echo", "kill", "ls", "mkdir", "rm", "sleep", "true")


class RootFilesystem:
    """A tar file that grows: each thing stands where it stands on this machine, with the libraries that it loads."""

    def __init__(self, path: Path) -> None:
        self._tar = tarfile.open(path, "w", dereference=True)  # noqa: SIM115 - closed by close()
        #: Files that are in it already.
        self._names: set[str] = set()
        for folder, mode in (("tmp", 0o1777), ("etc", 0o755), ("proc", 0o755), ("sys", 0o755), ("dev", 0o755)):
            self._folder(folder, mode)
        self.text("/etc/passwd", "root:x:0:0::/:/bin/sh\n")
        self.text("/etc/group", "root:x:0:\n")
        self._busybox()

    def close(self) -> None:
        """Write what is left to write."""
        self._tar.close()

    def program(self, path: Path, place: Path | None = None) -> None:
        """A program, in its own place or another."""
        self.file(path, place)
        for library in _libraries(path):
            self.file(library)

    def file(self, path: Path, place: Path | None = None) -> None:
        """A file as it is, in its own place or another."""
        name = (place or path).as_posix().lstrip("/")
        if name not in self._names:
            self._parents(name)
            self._names.add(name)
            self._tar.add(path, name, recursive=False, filter=_of_root)

    def tree(self, top: Path) -> None:
        """All files below a folder, but for what is left out."""
        for folder, folders, files in os.walk(top):
            folders[:] = [name for name in sorted(folders) if not _LEFT_OUT.fullmatch(name)]
            for name in sorted(files):
                if not _LEFT_OUT.fullmatch(name):
                    self.file(Path(folder, name))

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        member = self._member(path)
        if member is not None:
            member.type, member.linkname = tarfile.SYMTYPE, target
            self._tar.addfile(member)

    def text(self, path: str, text: str, mode: int = 0o644) -> None:
        """A file with this text."""
        member = self._member(path)
        if member is not None:
            member.size, member.mode = len(text.encode()), mode
            self._tar.addfile(member, BytesIO(text.encode()))

    def _member(self, path: str) -> tarfile.TarInfo | None:
        name = path.lstrip("/")
        if name in self._names:
            return None
        self._parents(name)
        self._names.add(name)
        return tarfile.TarInfo(name)

    def _parents(self, name: str) -> None:
        for parent in reversed(Path(name).parents[:-1]):
            self._folder(parent.as_posix(), 0o755)

    def _folder(self, name: str, mode: int) -> None:
        if name not in self._names:
            self._names.add(name)
            member = tarfile.TarInfo(name)
            member.type, member.mode = tarfile.DIRTYPE, mode
            self._tar.addfile(member)

    def _busybox(self) -> None:
        busybox = shutil.which("busybox")
        assert busybox is not None
        self.program(Path(busybox))
        for applet in _APPLETS:
            self.link(f"/bin/{applet}", busybox)


def python_root(path: Path, wheels: Path) -> None:
    """A system with the Python that runs this test, a shell, and wheels in /wheels."""
    root = RootFilesystem(path)
    python = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    library = Path(sysconfig.get_path("stdlib"))
    dynamic = Path(sysconfig.get_config_var("DESTSHARED"))
    root.program(python)
    for name in ("python3", "python"):
        root.link(f"/usr/local/bin/{name}", str(python))
    root.tree(library)
    extensions = [path for path in sorted(dynamic.glob("*.so")) if not _LEFT_OUT.fullmatch(path.name)]
    for extension in (*extensions, *_extensions_of_wheels()):
        for needed in _libraries(extension):
            root.file(needed)
    for bundled in (Path("/usr/share/python-wheels"),):  # where Debian keeps what `python3 -m venv` installs
        if bundled.is_dir():
            root.tree(bundled)
    for wheel in sorted(wheels.iterdir()):
        root.file(wheel, Path("/wheels") / wheel.name)
    root.close()


def programs_root(path: Path, programs: Iterable[Path]) -> None:
    """A system with a shell, and these programs in /usr/local/bin."""
    root = RootFilesystem(path)
    for program in programs:
        root.program(program, Path("/usr/local/bin", program.name))
    root.close()


def _extensions_of_wheels() -> list[Path]:
    """Compiled modules that load libraries of the system (of C++): those of pyzmq."""
    return sorted(Path(zmq.backend.cython.__path__[0]).glob("*.so"))


def _libraries(path: Path) -> list[Path]:
    """Return the libraries that the dynamic loader would load; none for a static program."""
    told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    found = re.findall(r"^\s*(?:\S+ => )?(/\S+) \(0x", told, re.MULTILINE)
    return [Path(library) for library in found if "site-packages" not in library and ".libs/" not in library]


def _of_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mode = 0o755 if member.mode & 0o111 else 0o644
    return member
