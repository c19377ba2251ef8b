"""The algorithm that is judged, as its name: user code is loaded in the processes of trials only."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from batsched_py.plugins import load
from batsched_py.scheduling.base import Scheduler


class JudgedAlgorithm(Struct, frozen=True):
    """An algorithm as the user named it, its options, and the folder where its modules are."""

    algorithm: str
    options: Mapping[str, str]
    folder: str

    def load(self) -> type[Scheduler[Any]]:
        """Load its class anew. PluginError."""
        if self.folder not in sys.path:
            sys.path.append(self.folder)
        return load(self.algorithm)
