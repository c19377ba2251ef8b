"""The entry point of `batsched-py` and `python -m batsched_py`: signals are handled before modules are imported."""

from __future__ import annotations

import gc
import importlib
import sys

from batsched_py.cli.shared.interruption import raise_on_signals
from batsched_py.interruption import Interruption

#: Threshold of the cyclic garbage collector (default: 700). Loaded modules, and tens of thousands of jobs and records,
#: contain few cycles: frequent collections are a waste of time.
GARBAGE = 100_000


def main() -> None:
    """Run the program; a signal during its imports also results in one line."""
    gc.set_threshold(GARBAGE)
    try:
        raise_on_signals()
        program = importlib.import_module("batsched_py.cli.main")
    except Interruption as interruption:
        sys.stderr.write(f"batsched-py: {interruption}\n")
        sys.exit(interruption.exit_code)
    try:
        program.main()
    finally:
        gc.freeze()  # avoids several searches for cycles among all remaining objects at exit


if __name__ == "__main__":
    main()
