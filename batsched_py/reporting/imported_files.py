"""The files that a user's code imports from its own folder, and which are a part of it.

They are found without importing anything: from the import statements of each file, at its top or in functions, and
Python's rules for the search of modules.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Collection, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

import batsched_py

#: Folders of installed packages.
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
#: The file that marks a virtual environment.
_ENVIRONMENT: Final = "pyvenv.cfg"
#: The folders of batsched-py's code; in a clone, the algorithms are in a folder next to the package.
_PACKAGE_FOLDERS: Final = (Path(batsched_py.__file__).parent, Path(batsched_py.__file__).parent.parent / "schedulers")


def imported_files(
    code: Path, folder: Path, loaded: Collection[str] = (), further: Collection[Path] = ()
) -> dict[str, Path]:
    """Return name -> file for all that a file imports, directly or not, from `folder`, its own or `further` folders.

    They are sorted by name.

    Installed packages, virtual environments and batsched-py are excluded, wherever they are. Names are paths relative
    to these folders. `loaded` are names of further modules that were loaded with the code.
    """
    folders = tuple(dict.fromkeys(map(Path.resolve, (folder, code.resolve().parent, *further))))
    seen: dict[Path, None] = {code.resolve(): None}
    waiting = [code.resolve()]
    named = [getattr(sys.modules.get(name), "__file__", None) for name in loaded]
    packages = [path for parent in code.resolve().parents if os.path.isfile(path := parent / "__init__.py")]
    waiting += _new([*packages, *(Path(file) for file in named if file is not None)], folders, seen)
    while waiting:
        waiting += _new(_imports(waiting.pop(), folders), folders, seen)
    found = {_name(path, folders): path for path in seen if path != code.resolve()}
    return dict(sorted(found.items()))


def find_module(name: str, folder: Path) -> Path | None:
    """Return the file from which Python would import a module, with `folder` in the search path; None if none."""
    *_, last = [None, *_files_of(name.split("."), (folder,))]
    return last


def _new(paths: Collection[Path], folders: Collection[Path], seen: dict[Path, None]) -> list[Path]:
    """Return the files in the folders that are not in `seen`, and add them to it."""
    found = [path for path in map(Path.resolve, paths) if path not in seen and _is_of_user(path, folders)]
    seen |= dict.fromkeys(found)
    return found


def _is_of_user(path: Path, folders: Collection[Path]) -> bool:
    if any(path.is_relative_to(folder) for folder in _PACKAGE_FOLDERS):
        return False
    root = next((folder for folder in folders if path.is_relative_to(folder)), None)
    if root is None:
        return False
    inside = path.relative_to(root)
    between = [root / parent for parent in inside.parents if parent.parts]
    return not (_INSTALLED & set(inside.parts) or any((one / _ENVIRONMENT).exists() for one in between))


def _name(path: Path, folders: Collection[Path]) -> str:
    return next(path.relative_to(folder).as_posix() for folder in folders if path.is_relative_to(folder))


def _imports(file: Path, folders: tuple[Path, ...]) -> list[Path]:
    """Return the files of the modules that a file imports."""
    if file.suffix != ".py":
        return []
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):  # the error is reported when the file is imported
        return []
    found: list[Path] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found += _files_of(alias.name.split("."), folders)
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            for alias in node.names:  # a member of the module, or a module in the package
                names = [*parts, alias.name]
                found += _below(names, file.parents[node.level - 1]) if node.level else _files_of(names, folders)
    return found


def _files_of(parts: list[str], folders: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the files that are executed when a module is imported: those of its packages and its own, if they exist."""
    top = sys.modules.get(parts[0])
    file = getattr(top, "__file__", None)
    places = list(getattr(top, "__path__", ()))
    if top is None:
        spec = PathFinder.find_spec(parts[0], [*sys.path, *map(str, folders)])
        if spec is None:
            return
        file, places = spec.origin if spec.has_location else None, list(spec.submodule_search_locations or ())
    if file is not None:
        yield Path(file)
    for place in places:
        yield from _below(parts[1:], Path(place))


def _below(parts: list[str], folder: Path) -> Iterator[Path]:
    """Yield the files of the nested modules of a package, from the first part of a name to the last."""
    for part in parts:
        inner = folder / part
        source = next((path for path in (inner / "__init__.py", folder / f"{part}.py") if os.path.isfile(path)), None)
        yield from sorted(folder.glob(f"{part}.*.so")) if source is None else [source]
        folder = inner
