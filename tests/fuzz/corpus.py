"""The corpus: inputs that once led to something else than one clear line; a folder for each target."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from tests.clone import ROOT

FOLDER = ROOT / "tests" / "fuzz" / "corpus"


def keep(target: str, content: bytes, folder: Path = FOLDER) -> Path:
    """Write an input; its name is made of what is in it."""
    path = folder / target / hashlib.sha256(content).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def kept(folder: Path = FOLDER) -> Iterator[tuple[str, Path]]:
    """Each input, with its target."""
    for path in sorted(folder.glob("*/*")):
        yield path.parent.name, path
