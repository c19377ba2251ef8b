"""Fingerprints of runs, in this process and in another one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.errors import ContractError
from batsched_py.plugins import load
from batsched_py.testing.case import Case
from batsched_py.testing.fingerprints import fingerprints, run_in_other_process

CASES = (Case(hosts=3, jobs=((0, 1, 5, 9),) * 40), Case(hosts=1))

BY_HASH = """
from batsched_py.api import Scheduler


class ByHash(Scheduler):
    '''Serves jobs in the order in which a set of their ids happens to be.'''

    name = "by-hash"

    def decide(self, view, plan):
        for job_id in {job.id for job in view.queue}:
            job = view.job(job_id)
            if hosts := plan.free.first(job.size):
                plan.start(job, hosts)
"""


class Broken(Scheduler[NoOptions]):
    """Fails at the first job."""

    name = "broken"

    def decide(self, view: View, plan: Plan) -> None:
        if view.queue:
            raise ZeroDivisionError


def test_each_exchange_has_its_mark_and_so_has_the_end() -> None:
    """The same run has the same ones, here and elsewhere."""
    first = fingerprints(load("fcfs"), {}, CASES)
    assert len(first) == 2
    assert all(re.fullmatch(r"[0-9a-f]{16}", mark) for case in first for mark in case)
    assert len(first[0]) > len(first[1])
    assert fingerprints(load("fcfs"), {}, CASES) == first
    assert run_in_other_process(load("fcfs"), {}, CASES) == first


def test_the_order_of_a_set_is_found_out(tmp_path: Path) -> None:
    """Another process has other hashes of texts."""
    file = tmp_path / "by_hash.py"
    file.write_text(BY_HASH)
    algorithm = load(f"{file}:ByHash")
    assert run_in_other_process(algorithm, {}, CASES) != fingerprints(algorithm, {}, CASES)


def test_an_error_is_the_end_of_a_fingerprint() -> None:
    """So that a run that fails in another way is another one."""
    (found,) = fingerprints(Broken, {}, CASES[:1])
    (whole,) = fingerprints(load("fcfs"), {}, CASES[:1])
    assert found[0] == whole[0], "SIMULATION_BEGINS is answered by both in the same way"
    assert found[-1] != whole[-1]


def test_a_class_that_has_no_name_elsewhere_is_not_run_there() -> None:
    """One that was made in a function."""

    class Local(Broken):
        name = "local"

    assert run_in_other_process(Local, {}, CASES) is None


def test_an_algorithm_that_fails_to_load_elsewhere_is_one_clear_line(tmp_path: Path) -> None:
    """With the last line of the other process."""
    file = tmp_path / "gone.py"
    file.write_text(BY_HASH)
    algorithm = load(f"{file}:ByHash")
    file.write_text("raise OSError('no licence')\n")
    with pytest.raises(ContractError, match=r"gone\.py:ByHash cannot be run in another process: .*no licence"):
        run_in_other_process(algorithm, {}, CASES)
