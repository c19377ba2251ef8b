"""`make fuzz SECONDS=60`: search for input that leads to anything but one clear line, and keep what is found."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from itertools import count

from tests.fuzz.corpus import keep
from tests.fuzz.judging import limit_memory
from tests.fuzz.search import search
from tests.fuzz.targets import TARGETS

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
parser.add_argument("--seconds", type=float, default=60, help="how long the search takes")
parser.add_argument("--turns", type=int, default=sys.maxsize, help="of 50 inputs each, at most")
parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="of the first turn; another each time")
parser.add_argument("target", nargs="*", choices=[[], *TARGETS], help="all of them if none is named")


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Exit code 1 if something was found."""
    options = parser.parse_args()
    warnings.simplefilter("error")
    limit_memory()
    targets = [TARGETS[name] for name in options.target] or list(TARGETS.values())
    end = time.monotonic() + options.seconds
    turns = count()
    found = search(targets, options.seed, lambda: time.monotonic() >= end or next(turns) >= options.turns, tell)
    for name, content in found:
        tell(f"kept {keep(name, content)}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
