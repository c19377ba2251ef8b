"""The check that a file of a site is still the one that it opened."""

from __future__ import annotations

from pathlib import Path

from batsched_py.errors import SiteError


def check_same_file(path: Path, inode: int) -> None:
    """Raise SiteError if a file was removed, or replaced by one with another inode, while the site has it open."""
    try:
        there = path.stat().st_ino
    except OSError as error:
        raise SiteError(f"{path}: {error.strerror or error}, while the site was running") from error
    if there != inode:
        raise SiteError(f"{path}: was replaced while the site was running")
