"""Lookup of algorithms by name, by `package.module:Class`, by `file.py:Class` or by `file.py`."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Final

from batsched_py.errors import PluginError
from batsched_py.loading import PYBATSIM_PREFIX, load_file, load_object
from batsched_py.scheduling.base import Scheduler
from batsched_py.text.wording import unknown

#: The entry point group of third-party algorithms: `name = "package.module:Class"`.
ENTRY_POINT_GROUP: Final = "batsched_py.schedulers"
#: The package of the built-in algorithms; its table BUILT_INS names them.
BUILT_IN_PACKAGE: Final = "batsched_py.schedulers"
#: The module that loads schedulers written for pybatsim.
PYBATSIM_LOADER: Final = "batsched_py.pybatsim.loader"
#: An algorithm: a name as after `-s`, or a class.
AlgorithmLike = str | type[Scheduler[Any]]


def available() -> Mapping[str, str]:
    """Return name -> `package.module:Class`: built-in algorithms first, then entry points by name.

    An entry point never replaces a built-in algorithm.
    """
    found = dict(importlib.import_module(BUILT_IN_PACKAGE).BUILT_INS)
    for name, target in sorted(_announced().items()):
        found.setdefault(name, target)
    return found


def is_built_in(name: str) -> bool:
    """Return whether an algorithm is built in: loading it runs no third-party code."""
    return name in importlib.import_module(BUILT_IN_PACKAGE).BUILT_INS


def load(name: str) -> type[Scheduler[Any]]:
    """Load an algorithm: "easy", "package.module:Class", "path/to/file.py:Class", or "path/to/file.py" with one.

    After "pybatsim:" it is a scheduler written for pybatsim. PluginError if it cannot be found or imported, or is not a
    Scheduler.
    """
    if name.startswith(PYBATSIM_PREFIX):
        loaded: type[Scheduler[Any]] = importlib.import_module(PYBATSIM_LOADER).load_pybatsim(name)
        return loaded
    target = _target(name)
    found = load_object(target, "algorithm") if ":" in target else _only_class(target)
    class_name = target.rpartition(":")[2] if ":" in target else found.__name__
    if not (isinstance(found, type) and issubclass(found, Scheduler)):
        raise PluginError(f"algorithm {name}: {class_name} is not a Scheduler")
    if inspect.isabstract(found):
        raise PluginError(f"algorithm {name}: {class_name} does not define decide")
    if not is_dataclass(found.options_type):
        raise PluginError(f"algorithm {name}: {found.options_type.__name__} in Scheduler[...] is not a dataclass")
    if not isinstance(getattr(found, "name", None), str):
        raise PluginError(f'algorithm {name}: {class_name} has no name; write name = "..." in the class')
    return found


def name_of(algorithm: AlgorithmLike) -> str:
    """Return an algorithm as after `-s`."""
    return algorithm if isinstance(algorithm, str) else f"{algorithm.__module__}:{algorithm.__qualname__}"


def find_code(value: Any, folder: Path) -> Any:
    """Return "file:name", "file" or "pybatsim:file" with an absolute path; any other value unchanged.

    Paths are relative to the folder; the file must exist.
    """
    if not isinstance(value, str):
        return value
    prefix = PYBATSIM_PREFIX if value.startswith(PYBATSIM_PREFIX) else ""
    name, colon, inside = value.removeprefix(prefix).partition(":")
    path = folder / name
    if os.path.splitext(name)[1] and os.path.isfile(path):  # False for any text, long or odd
        return f"{prefix}{path.resolve()}{colon}{inside}"
    return value


def load_class(algorithm: AlgorithmLike) -> type[Scheduler[Any]]:
    """Return the class of an algorithm. PluginError."""
    return load(algorithm) if isinstance(algorithm, str) else algorithm


def _announced() -> Mapping[str, str]:
    """Return the entry points of installed distributions; slow, and therefore not used for built-in algorithms."""
    metadata = importlib.import_module("importlib.metadata")
    return {point.name: point.value for point in metadata.entry_points(group=ENTRY_POINT_GROUP)}


def _target(name: str) -> str:
    if ":" in name:
        return name
    built_ins = importlib.import_module(BUILT_IN_PACKAGE).BUILT_INS
    target = built_ins.get(name) or available().get(name)
    if target is None and name.endswith(".py"):
        return name
    if target is None:
        raise PluginError(f"algorithm {name}: {unknown(name, available())}, package.module:Class and file.py:Class")
    return str(target)


def _only_class(file: str) -> type[Scheduler[Any]]:
    """Return the only algorithm that a file defines. PluginError if there is none, or more than one."""
    module = load_file(Path(file), "algorithm")
    defined = {
        found: None  # a class with several names counts once
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Scheduler) and found.__module__ == module.__name__
    }
    whole = [found for found in defined if not inspect.isabstract(found)] or list(defined)
    named = [found for found in whole if isinstance(getattr(found, "name", None), str)] or whole
    if not named:
        raise PluginError(f"algorithm {file}: defines no class that is a Scheduler[...]")
    if len(named) > 1:
        names = ", ".join(f"{file}:{found.__name__}" for found in named)
        raise PluginError(f"algorithm {file}: defines {len(named)} algorithms; name one of {names}")
    return named[0]
