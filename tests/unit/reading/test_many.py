"""Members of millions of objects."""

from batsched_py.reading.many import ManyMembers
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes

JOB = Members("a job", frozenset({"res", "walltime"}), {"gpus": "jobs get hosts only"}, UnknownNames.KEPT)


def told(*objects: dict[str, int]) -> tuple[str, ...]:
    """The lines on these objects, of which those with silent names are passed over."""
    notes = Notes("f")
    many = ManyMembers(JOB, notes)
    for number, members in enumerate(objects):
        if not members.keys() <= many.silent:
            many.check(members.keys(), f"jobs[{number}]")
    return notes.lines()


def test_names_are_counted_with_their_first_place() -> None:
    """In the order in which they come."""
    assert told({"res": 1, "owner": 2}, {"walltme": 3, "gpus": 4}, {"gpus": 5}, {"owner": 6}) == (
        "f: member walltme of a job is unknown; did you mean walltime? (jobs[1])",
        "f: member gpus of a job is not obeyed: jobs get hosts only (2 times, first in jobs[1])",
    )


def test_a_silent_name_is_judged_once() -> None:
    """Comparing it with all known names takes longer than reading the job."""
    many = ManyMembers(JOB, Notes("f"))
    many.check({"owner": 1}.keys(), "jobs[0]")
    assert "owner" in many.silent


def test_names_that_are_data_are_only_counted() -> None:
    """A thousand names take no longer than one; known ones are told none the less."""
    lines = told(*({f"q{number}": 1} for number in range(3_000)), {"gpus": 1})
    assert lines[0].startswith("f: members of a job have more than 1000 names: others are kept (")
    assert lines[1] == "f: member gpus of a job is not obeyed: jobs get hosts only (jobs[3000])"
