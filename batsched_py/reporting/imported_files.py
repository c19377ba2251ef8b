"""The files that code of a user's imports from its own folder: they are a part of it, as its own file is.

Found without importing anything: by the imports that are written in each file, at its top or in a function, and by
where Python would look for these modules.
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
#: The file that a virtual environment has.
_ENVIRONMENT: Final = "pyvenv.cfg"
#: The folders of our own code; in a clone, that of algorithms is beside the package.
_OURS: Final = (Path(batsched_py.__file__).parent, Path(batsched_py.__file__).parent.parent / "schedulers")


def imported_files(code: Path, folder: Path, loaded: Collection[str] = ()) -> dict[str, Path]:
    """Return name -> file of what a file imports from its folder, or from `folder`, directly or not; sorted by names.

    Installed packages, virtual environments and batsched-py are not among them, wherever they are. Names are paths
    in these folders. `loaded` are names of modules that were loaded with the code, by whatever means.
    """
    folders = tuple(dict.fromkeys((folder.resolve(), code.resolve().parent)))
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
    """Return the file from which Python would import a module, if also `folder` is looked into; None without one."""
    *_, last = [None, *_files_of(name.split("."), (folder,))]
    return last


def _new(paths: Collection[Path], folders: Collection[Path], seen: dict[Path, None]) -> list[Path]:
    """Return the files that belong to the folders and were not seen before; they are then."""
    found = [path for path in map(Path.resolve, paths) if path not in seen and _is_own(path, folders)]
    seen |= dict.fromkeys(found)
    return found


def _is_own(path: Path, folders: Collection[Path]) -> bool:
    if any(path.is_relative_to(ours) for ours in _OURS):
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
    except (OSError, SyntaxError, ValueError, RecursionError):  # who imports it is told
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
    """Yield the files that importing a module runs: those of its packages and its own, as far as there are such."""
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
    """Yield the files of a package's modules on the way to the last part."""
    for part in parts:
        inner = folder / part
        source = next((path for path in (inner / "__init__.py", folder / f"{part}.py") if os.path.isfile(path)), None)
        yield from sorted(folder.glob(f"{part}.*.so")) if source is None else [source]
        folder = inner
