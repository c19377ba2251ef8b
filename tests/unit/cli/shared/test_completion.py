"""Completion: what a shell is offered for a line that is not finished."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.main import batsched
from batsched_py.schedulers import BUILT_INS


def offered(line: str) -> list[str]:
    """Return the completions of the last word of a line."""
    words = line.split(" ")
    completion = ShellComplete(batsched, {}, "batsched-py", "_BATSCHED_PY_COMPLETE")
    return [item.value for item in completion.get_completions(words[:-1], words[-1])]


def test_commands() -> None:
    """All, and those that begin so."""
    assert offered("") == list(COMMANDS)
    assert offered("re") == ["record", "replay", "report", "reservation", "restore"]


@pytest.mark.parametrize("line", ["simulate -s ", "compare -s fcfs -s ", "describe ", "demo -s ", "serve -s "])
def test_algorithms(line: str) -> None:
    """By their names; those of packages stand behind them."""
    assert offered(line)[: len(BUILT_INS)] == list(BUILT_INS)
    assert offered(line + "conserv") == ["conservative"]


def test_files_of_ones_own_are_left_to_the_shell() -> None:
    """It knows which there are; none is opened."""
    completion = ShellComplete(batsched, {}, "batsched-py", "_BATSCHED_PY_COMPLETE")
    (item,) = completion.get_completions(["simulate", "-s"], "./my")
    assert (item.type, item.value) == ("file", "./my")


def test_options_of_the_algorithm() -> None:
    """Only built-in algorithms are completed: completing a line runs no code of a user."""
    assert offered("simulate -s easy -o backfill") == ["backfill_order="]
    assert offered("simulate -s ./mine.py:Mine -o ") == []
    assert offered("simulate -o ") == []


def test_metrics() -> None:
    """The last one of the list, if it is not there yet."""
    assert offered("compare --metrics mean_wa") == ["mean_wait"]
    assert offered("compare --metrics mean_wait,mean_wa") == []
    assert offered("compare --metrics mean_wait,makes") == ["mean_wait,makespan"]
