"""Finding an algorithm by name, by `package.module:Class` or by `file.py:Class`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from batsched_py.api import Scheduler
from batsched_py.errors import PluginError

#: Third parties announce algorithms in this group: `name = "package.module:Class"`.
ENTRY_POINT_GROUP: Final = "batsched_py.schedulers"
#: The package of the algorithms that come along; its table BUILT_INS names them.
BUILT_IN_PACKAGE: Final = "schedulers"


def available() -> Mapping[str, str]:
    """Names and where they lead, `package.module:Class`: built-ins first, then entry points by name.

    An entry point never hides a built-in.
    """
    found = dict(importlib.import_module(BUILT_IN_PACKAGE).BUILT_INS)
    for name, target in sorted(_announced().items()):
        found.setdefault(name, target)
    return found


def load(name: str) -> type[Scheduler[Any]]:
    """The algorithm's class: "easy", "package.module:Class" or "path/to/file.py:Class".

    Raises PluginError if it cannot be found or imported, or is no Scheduler.
    """
    target = _target(name)
    module_name, _, class_name = target.rpartition(":")
    module = _load_file(Path(module_name)) if module_name.endswith(".py") else _load_module(module_name)
    found = getattr(module, class_name, None)
    if found is None:
        raise PluginError(f"algorithm {name}: {module_name} has no class {class_name}")
    if not (isinstance(found, type) and issubclass(found, Scheduler)):
        raise PluginError(f"algorithm {name}: {class_name} is not a Scheduler")
    if inspect.isabstract(found):
        raise PluginError(f"algorithm {name}: {class_name} does not define decide")
    if not is_dataclass(found.options_type):
        raise PluginError(f"algorithm {name}: {found.options_type.__name__} in Scheduler[...] is not a dataclass")
    if not isinstance(getattr(found, "name", None), str):
        raise PluginError(f'algorithm {name}: {class_name} has no name; write name = "..." in the class')
    return found


def _announced() -> Mapping[str, str]:
    """What installed distributions announce. Reading their metadata is slow, so built-ins are found without it."""
    metadata = importlib.import_module("importlib.metadata")
    return {point.name: point.value for point in metadata.entry_points(group=ENTRY_POINT_GROUP)}


def _target(name: str) -> str:
    if ":" in name:
        return name
    built_ins = importlib.import_module(BUILT_IN_PACKAGE).BUILT_INS
    target = built_ins.get(name) or available().get(name)
    if target is None:
        known = ", ".join(available())
        raise PluginError(f"algorithm {name}: unknown; there are: {known}, package.module:Class and file.py:Class")
    return str(target)


def _load_module(module_name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise PluginError(f"algorithm module {module_name}: {_one_line(error)}") from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise PluginError(f"algorithm file {path}: no such file")
    # Under its path, so that it hides no module of its name; dataclasses and type hints look their module up there.
    name = str(path.resolve())
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"algorithm file {path}: not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise PluginError(f"algorithm file {path}: {_one_line(error)}") from error
    return module


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
