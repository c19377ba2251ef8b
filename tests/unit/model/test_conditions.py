"""The conditions of jobs on other jobs, as members."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.conditions import ArrayTask, Conditions, Dependency, check_graph, conditions_in, has_conditions
from batsched_py.model.job import Job
from batsched_py.reading.faults import FieldError


def read(**members: Any) -> Conditions | None:
    """The conditions of a job with these members; None if it has none."""
    job = Job.create("w0!1", size=1, profile="p", extra=members)
    return conditions_in(job.members) if has_conditions(job) else None


def test_members_are_read() -> None:
    """A name alone is success; names may be numbers; ids name jobs of any workload."""
    assert read(user="ada") is None
    given = ["a", 3, {"job": "w1!b", "when": "start", "delay": 2}]
    dependencies = Dependency("a"), Dependency("3"), Dependency("w1!b", "start", 2.0)
    found = read(depends_on=given, singleton="s", array={"id": "t", "limit": 2})
    assert found == Conditions(dependencies, "s", ArrayTask("t", 2))
    assert [one.id("w0") for one in dependencies] == ["w0!a", "w0!3", "w1!b"]
    assert read(array={"id": 7}) == Conditions(array=ArrayTask("7"))


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"depends_on": "a"}, "depends_on must be a list of dependencies, not 'a'"),
        ({"depends_on": [None]}, "depends_on[0] must be the name of a job, or an object with job, when and delay"),
        ({"depends_on": [True]}, "depends_on[0] must be the name of a job, or an object"),
        ({"depends_on": [-1]}, "depends_on[0] must be a text, not -1"),
        ({"depends_on": [""]}, "depends_on[0] must not be empty"),
        ({"depends_on": ["a\x1b"]}, "depends_on[0] must have no comma"),
        ({"depends_on": [{"when": "end"}]}, "depends_on[0].job is missing"),
        (
            {"depends_on": [{"job": "a", "when": "ok"}]},
            "depends_on[0].when must be one of start, end, success, failure",
        ),
        ({"depends_on": [{"job": "a", "delay": -1}]}, "depends_on[0].delay must be a number of seconds from 0"),
        ({"depends_on": [{"job": "a", "dealy": 1}]}, "did you mean delay?"),
        ({"singleton": ""}, "singleton must not be empty"),
        ({"singleton": 3}, "singleton must be a text, not 3"),
        ({"array": "a"}, "array must be an object, not 'a'"),
        ({"array": {"limit": 2}}, "array.id is missing"),
        ({"array": {"id": "a", "limit": 0}}, "array.limit must be a whole number of tasks from 1, not 0"),
    ],
)
def test_a_fault_is_one_line(members: dict[str, Any], words: str) -> None:
    """It names the member, the place in it and the rule."""
    with pytest.raises(FieldError) as raised:
        read(**members)
    assert words in f"{raised.value.path} {raised.value.rule}"


def test_unknown_names_and_cycles_are_found() -> None:
    """A long cycle is shown in short, and a chain of any length is none."""
    names = [f"{number}" for number in range(20_000)]
    known = set(names)
    chain = {name: [before] for name, before in zip(names[1:], names, strict=False)}
    check_graph(chain, known)
    with pytest.raises(FieldError, match="no job is called nobody"):
        check_graph({"a": ["nobody"]}, known)
    with pytest.raises(FieldError, match="jobs depend on each other: a <- a"):
        check_graph({"a": ["a"]}, ["a"])
    with pytest.raises(FieldError, match=r"jobs depend on each other: .* <- \.\.\. <- "):
        check_graph({**chain, "0": [names[-1]]}, known)
