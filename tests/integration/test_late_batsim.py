"""Beside a Batsim that splits every instant and tells everything late, each algorithm still runs every job once."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.plugins import load
from batsched_py.session.session import Session
from tests.integration.late_batsim import LateBatsim, Spec
from tests.integration.variants import HOSTS, SPECS, VARIANTS


def played(name: str, options: dict[str, Any], specs: list[Spec], chance: random.Random) -> LateBatsim:
    """A whole run; the books are checked after each message."""
    session = Session(load(name), options)
    batsim = LateBatsim(HOSTS, specs, chance)

    def answer(request: bytes) -> bytes:
        reply = session.answer(request)
        session.check()
        return reply

    batsim.run(answer)
    assert session.over
    return batsim


@pytest.mark.parametrize(("name", "options"), VARIANTS)
@given(specs=SPECS, chance=st.randoms(use_true_random=False))
def test_every_job_ends_once_however_late_and_torn_the_news(
    name: str, options: dict[str, Any], specs: list[Spec], chance: random.Random
) -> None:
    """None is forgotten, none is started on hosts that work, no call is asked for in the past, and the run ends."""
    batsim = played(name, options, specs, chance)
    expected = {
        f"w0!{number}": "COMPLETED_WALLTIME_REACHED" if duration >= walltime else "COMPLETED_SUCCESSFULLY"
        for number, (_, _, duration, walltime) in enumerate(specs)
    }
    assert dict(sorted(batsim.ended.items())) == dict(sorted(expected.items()))


def test_that_batsim_is_late_and_tells_one_thing_at_a_time() -> None:
    """The test above would show nothing otherwise."""
    specs: list[Spec] = [(0, 3, 5, 9), (0, 3, 5, 9), (0, 6, 5, 9)]
    runs = [played("easy", {}, specs, random.Random(seed)) for seed in range(50)]
    assert {run.messages for run in runs} == {2 + 2 * len(specs)}
    assert len({tuple(run.ended) for run in runs}) > 1
    assert max(run.now for run in runs) > 10.1
