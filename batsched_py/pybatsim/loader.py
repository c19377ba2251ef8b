"""Loads schedulers of pybatsim by `pybatsim:FILE`, `pybatsim:package.module` or `pybatsim:NAME`, by its rules."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import batsched_py
from batsched_py.errors import PluginError
from batsched_py.interruption import is_interruption
from batsched_py.loading import PYBATSIM_PREFIX, as_one_line, load_file
from batsched_py.pybatsim.algorithm import PybatsimScheduler
from batsched_py.pybatsim.base import BatsimScheduler
from batsched_py.pybatsim.modules import served_modules
from batsched_py.pybatsim.objects.scheduler import as_scheduler
from batsched_py.text.display import displayed

#: The folder of the engine's own code.
_ENGINE: Final = str(Path(batsched_py.__file__).parent)
#: Calls of schedulers that finish registration by themselves.
_REGISTERS: Final = re.compile(
    r"\b(register_\w+|resubmit_\w+|notify_(registration|submission)_\w+|submit_(job|profiles)|dynamic_workload)\b"
)


def load_pybatsim(name: str) -> type[PybatsimScheduler]:
    """Load the scheduler after "pybatsim:", as a class of algorithms. PluginError.

    It is a file, a module, or the name of one of an installed pybatsim. The class has the name of the file with a
    capital letter; another one is named after a colon ("pybatsim:path/to/file.py:Other").
    """
    target, _, wanted = name.removeprefix(PYBATSIM_PREFIX).partition(":")
    file = _file_of(target)
    stem = target.rpartition(".")[2] if file is None else file.stem
    with served_modules(), _searched(file):
        module = _import(target, file)
    class_name = wanted or stem[:1].upper() + stem[1:]
    registers = any(_REGISTERS.search(_source(one)) for one in _with_siblings(module))
    found = getattr(module, class_name, None)
    if found is None:
        rule = f"it must define {displayed(class_name)}, by pybatsim's rule of names, or be named with its class"
        raise PluginError(f"algorithm {displayed(name)}: {rule}: {displayed(PYBATSIM_PREFIX + target)}:Class")
    if isinstance(found, FunctionType):
        found = as_scheduler()(found)
    return _algorithm_of(stem, found, registers=registers)


def _algorithm_of(stem: str, found: Any, *, registers: bool) -> type[PybatsimScheduler]:
    def make(options: dict[str, Any]) -> Any:
        made = found(options)
        return made if isinstance(made, BatsimScheduler) else made()

    members = {
        "__doc__": getattr(found, "__doc__", None) or f"The scheduler {stem} of pybatsim.",
        "__module__": PYBATSIM_PREFIX + getattr(found, "__module__", ""),
        "name": f"{PYBATSIM_PREFIX}{stem}",
        "source": "a scheduler written for pybatsim",
        "uses_dynamic_jobs": registers,
        "make": staticmethod(make),
    }
    return type(getattr(found, "__name__", stem), (PybatsimScheduler,), members)


def _file_of(target: str) -> Path | None:
    """Return the file of a scheduler; None for a module. PluginError if pybatsim is not installed, or has it not."""
    if target.endswith(".py") or "/" in target:
        return Path(target)
    if "." in target:
        return None
    try:
        file = Path(str(distribution("pybatsim").locate_file(f"schedulers/{target}.py")))
    except PackageNotFoundError:
        rule = "pybatsim is not installed, so name a file (pybatsim:path/to/file.py) or a module"
        raise PluginError(f"algorithm {displayed(PYBATSIM_PREFIX + target)}: {rule}") from None
    if not file.is_file():
        raise PluginError(
            f"algorithm {displayed(PYBATSIM_PREFIX + target)}: the installed pybatsim has no such scheduler"
        )
    return file


@contextmanager
def _searched(file: Path | None) -> Iterator[None]:
    """Let a file import modules of its folder and of the folder above, as pybatsim does."""
    folders = []
    if file is not None and os.path.isfile(file):
        folders = [str(file.resolve().parent.parent), str(file.resolve().parent)]
    sys.path[:0] = folders
    try:
        yield
    finally:
        for folder in folders:
            sys.path.remove(folder)


def _import(target: str, file: Path | None) -> ModuleType:
    """Import a scheduler; PluginError names the line at fault."""
    try:
        if file is None:
            return importlib.import_module(target)
        return (
            _load_in_package(file) if os.path.isfile(file) and _imports_siblings(file) else load_file(file, "algorithm")
        )
    except PluginError as error:
        raise PluginError(f"{error}{_place(error.__cause__)}") from error
    except BaseException as error:
        if is_interruption(error):
            raise
        what = f"algorithm {displayed(PYBATSIM_PREFIX + target)}"
        raise PluginError(f"{what}: {as_one_line(error)}{_place(error)}") from error


def _place(error: BaseException | None) -> str:
    """Return the last line of user code that was running, in brackets; "" if there is none."""
    tried = [] if error is None else traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in tried if not frame.filename.startswith((_ENGINE, "<frozen"))]
    frames = [frame for frame in frames if "importlib" not in frame.filename]
    return f" ({displayed(Path(frames[-1].filename).name)}:{frames[-1].lineno})" if frames else ""


def _imports_siblings(file: Path) -> bool:
    """Return whether a file has relative imports, for which its folder must be a package."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return False  # loading it tells the error
    return any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))


def _load_in_package(file: Path) -> ModuleType:
    name = f"{file.resolve().parent.name}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018  # its name ends in .py
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _with_siblings(scheduler: ModuleType) -> list[ModuleType]:
    """Return a module, and those of its folder that it uses, directly or not, also if they were imported before it."""
    found = [scheduler]
    for module in found:
        for value in vars(module).values():
            other = value
            if isinstance(value, (type, FunctionType)):
                other = sys.modules.get(value.__module__)
            if isinstance(other, ModuleType) and other not in found and _is_sibling(other, scheduler):
                found.append(other)
    return found


def _is_sibling(module: ModuleType, scheduler: ModuleType) -> bool:
    """Return whether the file of a module is in the folder of the scheduler's."""
    files = [getattr(one, "__file__", None) for one in (module, scheduler)]
    return None not in files and Path(str(files[0])).parent == Path(str(files[1])).parent


def _source(module: ModuleType) -> str:
    """Return the text of a module; "" without a file in Python."""
    file = getattr(module, "__file__", None)
    try:
        return "" if file is None or not file.endswith(".py") else Path(file).read_text("utf-8", "replace")
    except OSError:
        return ""
