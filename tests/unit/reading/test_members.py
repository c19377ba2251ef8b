"""The members that readers know."""

from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes

JOB = Members("a job", frozenset({"res", "walltime"}), {"gpus": "jobs get hosts only"}, UnknownNames.KEPT)
ROUTE = Members("a route", frozenset({"src", "dst"}), unknown=UnknownNames.REFUSED, word="attribute")
LEASE = Members("a lease", frozenset({"start"}), unknown=UnknownNames.REPORTED)


def checked(members: Members, *names: str) -> tuple[tuple[str, str] | None, tuple[str, ...]]:
    """Return the fault of these names, if any, and the notes."""
    notes = Notes("f")
    return members.check(names, notes, "here"), notes.lines()


def test_obeyed_names_are_silent() -> None:
    """A member that changes the result needs no note."""
    assert checked(JOB, "res", "walltime") == (None, ())


def test_a_known_name_that_is_not_obeyed_is_told_with_the_reason() -> None:
    """The reason stands in the table, beside the reader."""
    assert checked(JOB, "gpus") == (None, ("f: member gpus of a job is not obeyed: jobs get hosts only (here)",))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    """The caller raises the error of its format."""
    assert checked(ROUTE, "src", "dts") == (("dts", "unknown; did you mean dst? There are: dst, src"), ())


def test_an_unknown_name_is_told_where_the_original_passes_it_over() -> None:
    """With what it is like."""
    assert checked(LEASE, "strat", "q") == (
        None,
        (
            "f: member strat of a lease is unknown and has no effect; did you mean start? (here)",
            "f: member q of a lease is unknown and has no effect (here)",
        ),
    )


def test_a_kept_name_is_told_only_if_it_looks_like_a_slip() -> None:
    """Algorithms read members of users' own; nobody calls one `walltme`."""
    assert checked(JOB, "owner", "walltme") == (
        None,
        ("f: member walltme of a job is unknown; did you mean walltime? (here)",),
    )
