"""Constraints: what a user's function may say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.policies.constraints import CONSTRAINTS, Rule, adopt
from tests.builders import hosts, job


def test_none_is_everywhere() -> None:
    """The default."""
    assert CONSTRAINTS["none"].hosts(job(), {}, hosts("0-3")) == hosts("0-3")


@pytest.mark.parametrize("given", [hosts("1-2"), [2, 1], range(1, 3), {1, 2}])
def test_a_function_gives_a_host_set_or_numbers(given: Any) -> None:
    """Both are easy to write."""
    assert adopt("mine:f", lambda job, hosts: given).hosts(job(), {}, hosts("0-3")) == hosts("1-2")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (HostSet.of(3, 4), "constraint mine:f for w0!1: it gave 3-4, of which 4 is not in the platform"),
        (None, "constraint mine:f for w0!1: it must give a HostSet or numbers of hosts, not None"),
        (["n1"], r"constraint mine:f for w0!1: it must give a HostSet or numbers of hosts, not \['n1'\]"),
        ([-1], r"constraint mine:f for w0!1: it must give a HostSet or numbers of hosts, not \[-1\]"),
    ],
)
def test_what_is_no_hosts_is_one_line(given: Any, words: str) -> None:
    """Names the function, the job and the rule."""
    with pytest.raises(PlanError, match=words):
        adopt("mine:f", lambda job, hosts: given).hosts(job(), {}, hosts("0-3"))


def lacking(job: Job, hosts: Mapping[int, Any]) -> list[int]:
    return [job.extra["memory"]]


def lacking_later(job: Job, hosts: Mapping[int, Any]) -> Iterator[int]:
    yield 0
    yield job.extra["memory"]


@pytest.mark.parametrize("function", [lacking, lacking_later])
def test_a_function_that_raises_is_named_with_the_job(function: Rule) -> None:
    """At once, or when its numbers are asked for."""
    with pytest.raises(PlanError) as caught:
        adopt("mine:f", function).hosts(job("7"), {}, hosts("0-3"))
    assert str(caught.value) == "constraint mine:f for w0!7: it raised KeyError: 'memory'"


def test_a_function_of_other_arguments_is_refused() -> None:
    """When the option is read."""
    with pytest.raises(ValueError, match=r"mine:f must be a function of \(job, hosts\)"):
        CONSTRAINTS.find("mine:f", lambda target, kind: lambda job: None)
