"""Work in processes: apart from each other, and over when whoever wanted it is gone."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

import pytest

from batsched_py.campaigns.processes import run_apart
from batsched_py.campaigns.run_limits import RunLimits
from tests.pieces import COUNTER, Terminating, answer, begun, die, end_badly, leave, linger, square, unwind


@pytest.mark.parametrize("processes", [1, 3, 20])
def test_each_piece_has_a_process_of_its_own(processes: int) -> None:
    """However many there may be at a time; each tells its position."""
    ended = list(run_apart([partial(square, number) for number in range(8)], processes))
    assert sorted((one.position, one.value) for one in ended) == [(number, number * number) for number in range(8)]
    assert {one.exit_code for one in ended} == {0}
    assert COUNTER == []


def test_the_death_of_one_is_told_and_the_others_go_on() -> None:
    """By signal, or by exit code."""
    ended = list(run_apart([partial(die, signal.SIGKILL), partial(square, 3), partial(leave, 7)], 2))
    assert sorted((one.position, one.value, one.exit_code) for one in ended) == [(0, None, -9), (1, 9, 0), (2, None, 7)]


def test_nobody_but_the_parent_hears_ctrl_c() -> None:
    """A terminal sends it to all of them."""
    (ended,) = run_apart([answer], 1)
    assert ended.value == (signal.SIG_IGN, True)


def test_when_the_parent_leaves_the_work_ends(tmp_path: Path) -> None:
    """The processes are told, clean up, and are gone."""
    path = tmp_path / "pid"
    pieces: list[Callable[[], object]] = [partial(linger, path), partial(begun, path)]
    work = run_apart(pieces, 2)
    assert next(work).position == 1
    with pytest.raises(KeyboardInterrupt):
        work.throw(KeyboardInterrupt)
    assert path.with_suffix(".cleaned").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(path.read_text()), 0)


@pytest.mark.parametrize("victim", ["tracker", "server"])
def test_a_helper_that_is_killed_is_started_again_unsaid(victim: str, capfd: pytest.CaptureFixture[str]) -> None:
    """By the system, say, when memory runs out: it is no concern of the user's, and pytest makes warnings errors."""
    work = run_apart([partial(square, number) for number in range(4)], 1)
    first = next(work)
    helpers = {
        "tracker": resource_tracker._resource_tracker._pid,  # type: ignore[attr-defined]
        "server": forkserver._forkserver._forkserver_pid,  # type: ignore[attr-defined]
    }
    os.kill(helpers[victim], signal.SIGKILL)
    assert sorted(one.value for one in (first, *work) if one.value is not None) == [0, 1, 4, 9]
    assert capfd.readouterr().err == ""


def test_a_signal_while_a_process_starts_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the worst time: it runs, and nobody has been told its number yet."""
    read = forkserver.read_signed
    pids: list[int] = []

    def read_and_be_interrupted(descriptor: Any) -> int:
        pids.append(read(descriptor))
        signal.raise_signal(signal.SIGINT)
        return pids[-1]

    monkeypatch.setattr(forkserver, "read_signed", read_and_be_interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what goes to the background deaf
    try:
        with pytest.raises(KeyboardInterrupt):
            list(run_apart([partial(linger, tmp_path / "pid")], 1))
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


@pytest.fixture
def own_server() -> None:
    """End the server, whose processes would write where stderr was before."""
    list(run_apart([answer], 1))
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("own_server")
def test_a_process_that_is_told_to_end_ends_unsaid(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """While it starts, while it cleans up, and while it ends: no traceback, and the files are whole."""
    unborn = RunLimits(memory=Terminating())  # type: ignore[arg-type]  # that is the point
    (starting,) = run_apart([partial(square, 2)], 1, unborn)
    (unwinding,) = run_apart([partial(unwind, tmp_path / "cleaned")], 1)
    (ending,) = run_apart([partial(end_badly, 3)], 1)
    assert [(one.value, one.exit_code) for one in (starting, unwinding, ending)] == [(None, 143), (None, 143), (3, 143)]
    assert (tmp_path / "cleaned").exists()
    assert capfd.readouterr().err == ""
