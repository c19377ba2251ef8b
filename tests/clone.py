"""The files of the repository, without whatever its user keeps beside them."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: In a folder that is no checkout, as of a source distribution: what is not from there.
_MADE = {".venv", ".git", "__pycache__", "out", "build", "dist"}


@cache
def tracked(root: Path = ROOT) -> tuple[Path, ...]:
    """Return the files that git knows there, by their paths from the root; all files if it is no checkout."""
    listing = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z"]
    try:
        listed = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listed = ""
    known = {Path(name) for name in listed.split("\0") if name and (root / name).exists()}
    if Path("pyproject.toml") not in known:  # in a folder of somebody's checkout, it may be
        there = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        known = {path for path in there if not _MADE.intersection(path.parts)}
    return tuple(sorted(known))


def files(pattern: str, root: Path = ROOT) -> list[Path]:
    """Return the files that match, as `docs/*.md`: those in the folder itself."""
    return [root / path for path in tracked(root) if path.match(pattern) and len(path.parts) == pattern.count("/") + 1]


def below(folder: str, pattern: str, root: Path = ROOT) -> list[Path]:
    """Return the files in the folder and in all below it, whose names match."""
    return [root / path for path in tracked(root) if path.is_relative_to(folder) and path.match(pattern)]


def copy(target: Path, *folders: str, root: Path = ROOT) -> None:
    """Make a clone there, or these folders of one."""
    for path in tracked(root):
        if not folders or path.parts[0] in folders:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, target / path, follow_symlinks=False)
