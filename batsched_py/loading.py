"""Loading of Python objects by `package.module:name` or `path/to/file.py:name`, and checks for optional packages."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from batsched_py.errors import ExtraError, PluginError
from batsched_py.interruption import is_interruption
from batsched_py.text.display import displayed

#: The prefix of schedulers written for pybatsim, before a file, a module or a name.
PYBATSIM_PREFIX: Final = "pybatsim:"


def load_object(target: str, what: str) -> Any:
    """Load the object at "package.module:name" or "path/to/file.py:name"; `what` describes it in messages.

    PluginError if it does not exist, or its module cannot be imported.
    """
    module_name, _, name = target.rpartition(":")
    file = module_name.endswith(".py")
    module = load_file(Path(module_name), what) if file else _load_module(module_name, what)
    found = getattr(module, name, None)
    if found is None:
        raise PluginError(f"{what} {target}: {module_name} has no {name}")
    return found


def require(package: str, use: str, extra: str) -> None:
    """Check that a package of an extra is installed, without importing it; `use` names the feature. ExtraError."""
    if find_spec(package) is None:
        raise ExtraError(use, package, extra)


def _load_module(module_name: str, what: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except BaseException as error:
        _pass_on(error)
        raise PluginError(f"{what} module {module_name}: {as_one_line(error)}") from error


def load_file(path: Path, what: str) -> ModuleType:
    """Import a Python file as a module; PluginError if that is not possible."""
    if not os.path.isfile(path):  # False for any text, long or odd
        raise PluginError(f"{what} file {path}: no such file")
    # Under its path, to hide no module with its name; dataclasses and type hints look up their module in sys.modules.
    name = str(path.resolve())
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{what} file {path}: not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        _pass_on(error)
        del sys.modules[name]
        raise PluginError(f"{what} file {path}: {as_one_line(error)}") from error
    return module


def _pass_on(error: BaseException) -> None:
    """Raise an exception of a signal again, which is not an error of the module that was being imported."""
    if is_interruption(error):
        raise error


def as_one_line(error: BaseException) -> str:
    """Return an error with its type, and with the line of the file if it is one of the syntax."""
    return displayed(" ".join(f"{type(error).__name__}: {error}".split()))
