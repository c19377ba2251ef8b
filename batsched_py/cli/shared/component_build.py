"""The build of a decision component library: its C source, filled in, and a call of the C compiler."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

import msgspec

from batsched_py.cli.shared.decision_component import ComponentSettings, open_component
from batsched_py.errors import LibraryError
from batsched_py.files.output_file import make_folder, naming_errors

#: Names of C compilers; the first one on PATH is used unless CC names another.
_COMPILERS: Final = ("cc", "gcc", "clang")
_VERSION: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


def build_library(output: Path, settings: ComponentSettings) -> None:
    """Compile a library with these settings for the running Python. LibraryError, InputError."""
    compiler, includes, shared = _compiler(), _includes(), _shared_library()
    make_folder(output)
    with naming_errors(output), tempfile.TemporaryDirectory(prefix=".library-", dir=output.parent) as folder:
        source, made = Path(folder) / "component.c", Path(folder) / output.name
        source.write_bytes(_source(settings, shared))
        flags = ["-O2", "-shared", "-fPIC", *(f"-I{include}" for include in includes)]
        linked = [str(shared), f"-Wl,-rpath,{shared.parent}", "-ldl"]
        _compile([*compiler, *flags, "-o", str(made), str(source), *linked])
        made.replace(output)


def missing() -> str:
    """Return what the build of a library lacks on this machine, in one line; "" if nothing."""
    try:
        _compiler(), _includes(), _shared_library()
    except LibraryError as error:
        return str(error)
    return ""


def _compiler() -> list[str]:
    """Return the command of the C compiler."""
    named = os.environ.get("CC", "").strip()
    if named:
        try:
            words = shlex.split(named)
        except ValueError as error:
            raise LibraryError(f"CC must be a command in the words of a shell: {error}") from None
        if shutil.which(words[0]) is None:
            raise LibraryError(f"CC names the C compiler {words[0]}, which is not there")
        return words
    found = next((path for name in _COMPILERS if (path := shutil.which(name))), None)
    if found is None:
        raise LibraryError(f"needs a C compiler: none of {', '.join(_COMPILERS)} is on PATH, and CC names no other")
    return [found]


def _includes() -> list[str]:
    """Return the folders of Python's headers."""
    folders = list(dict.fromkeys((sysconfig.get_path("include"), sysconfig.get_path("platinclude"))))
    if not any((Path(folder) / "Python.h").exists() for folder in folders):
        raise LibraryError(
            f"needs the headers of Python: {folders[0]} has no Python.h (on Debian in the package python{_VERSION}-dev)"
        )
    return folders


def _shared_library() -> Path:
    """Return the shared library of the running Python."""
    name = str(sysconfig.get_config_var("INSTSONAME") or f"libpython{_VERSION}.so")
    folders = [str(sysconfig.get_config_var("LIBDIR") or ""), str(Path(sys.base_prefix) / "lib")]
    found = next((path for folder in folders if (path := Path(folder) / name).is_file()), None)
    if found is None or found.suffix == ".a":
        raise LibraryError(
            f"needs Python as a shared library: {sys.executable} has none in {folders[0]} (on Debian in the package"
            f" libpython{_VERSION}; others build Python with --enable-shared)"
        )
    return found


def _source(settings: ComponentSettings, shared: Path) -> bytes:
    """Return the C source."""
    template = (files("batsched_py.cli.commands") / "templates" / "component.c").read_text("utf-8")
    here = [folder for folder in sys.path if os.path.isabs(folder) and os.path.exists(folder)]
    values = {
        "executable": _literal(os.fsencode(sys.executable)),
        "prefix": _literal(os.fsencode(sys.prefix)),
        "libpython": _literal(os.fsencode(shared)),
        "module": _literal(open_component.__module__.encode()),
        "settings": _literal(msgspec.json.encode(settings)),
        "path": "".join(f"{_literal(os.fsencode(folder))}, " for folder in here),
    }
    return Template(template).substitute(values).encode()


def _literal(content: bytes) -> str:
    """Return a C string; three octal digits cannot run into what follows."""
    return '"' + "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03o}" for byte in content) + '"'


def _compile(command: list[str]) -> None:
    """Run the compiler; LibraryError with its first error."""
    try:
        done = subprocess.run(  # noqa: S603  (the compiler of this machine, on our own source)
            command, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise LibraryError(f"the C compiler {command[0]} cannot be started: {error.strerror or error}") from error
    if done.returncode:
        raise LibraryError(f"the C compiler {command[0]} failed: {_first_error(done.stderr.splitlines())}")


def _first_error(lines: Iterable[str]) -> str:
    written = [line.strip() for line in lines if line.strip()]
    return next((line for line in written if "error" in line), next(iter(written), "it gives no reason"))
