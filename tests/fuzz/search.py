"""The search: Hypothesis draws new inputs, turn by turn for each target, until the time is over."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TypeAlias

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

from tests.fuzz.judging import TooLongError, limited
from tests.fuzz.targets import Target

#: A target's name, and an input.
Found: TypeAlias = tuple[str, bytes]

#: Inputs of one turn.
INPUTS = 50


def find(target: Target, number: int, inputs: int = INPUTS) -> tuple[bytes, BaseException] | None:
    """The smallest input of this turn that leads to a finding, with it; None if there is none."""
    worst: list[tuple[bytes, BaseException]] = []

    @seed(number)
    @settings(
        max_examples=inputs,
        derandomize=False,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
    )
    @given(target.inputs)
    def tried(content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                with limited():
                    target.attempt(content, Path(folder))
            except TooLongError as error:  # not to be made smaller: each try would take as long
                worst.append((content, error))
            except Exception as error:
                worst.append((content, error))
                raise

    try:
        tried()
    except Flaky:
        pass  # the input is kept all the same
    except Exception:
        if not worst:
            raise
    return worst[-1] if worst else None


def search(targets: Sequence[Target], start: int, over: Callable[[], bool], tell: Callable[[str], None]) -> list[Found]:
    """Turns for all targets, with one seed after the other, until `over` says so; what was found."""
    found: list[Found] = []
    turns = 0
    for number in count(start):
        for target in targets:
            if over():
                tell(f"{turns} turns of {INPUTS} inputs for {len(targets)} targets, from seed {start} on")
                return found
            turns += 1
            finding = find(target, number)
            if finding is not None:
                content, error = finding
                found.append((target.name, content))
                tell(f"{target.name}, seed {number}: {type(error).__name__}: {error}")
    raise AssertionError("the loop above has no end")
