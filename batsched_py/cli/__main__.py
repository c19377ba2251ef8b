"""Entry point of `batsched-py` and of `python -m batsched_py`: signals first, then the imports."""

from __future__ import annotations

import gc
import importlib
import sys

from batsched_py.cli.shared.interruption import Interruption, raise_on_signals

#: New objects before the collector looks for cycles: modules that are loaded, and jobs and records by the ten thousand,
#: have none worth it (default: 700).
GARBAGE = 100_000


def main() -> None:
    """The console command. A signal that comes while the program is still being loaded is one line, too."""
    gc.set_threshold(GARBAGE)
    try:
        raise_on_signals()
        program = importlib.import_module("batsched_py.cli.main")
    except Interruption as interruption:
        sys.stderr.write(f"batsched-py: {interruption}\n")
        sys.exit(interruption.exit_code)
    program.main()


if __name__ == "__main__":
    main()
