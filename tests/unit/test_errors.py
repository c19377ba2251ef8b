"""The errors: one line each, an exit code each, and whole when they come from another process."""

from __future__ import annotations

import pickle

import pytest

from batsched_py import errors
from batsched_py.errors import BatschedError, ExtraError, InputError, ProtocolError, QueryError

LEAVES = sorted(
    (kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BatschedError)),
    key=lambda kind: kind.__name__,
)


def example(kind: type[BatschedError]) -> BatschedError:
    if issubclass(kind, InputError):
        return kind("file.json", "jobs[3].res", "must be a whole number")
    if issubclass(kind, ProtocolError):
        return kind("events[0].data", "must be an object")
    if issubclass(kind, ExtraError):
        return kind("report", "plotly", "report")
    if issubclass(kind, QueryError):
        return kind("1 < 2 < 3", 6, "unexpected '<'")
    return kind("what is wrong")


@pytest.mark.parametrize("kind", LEAVES)
def test_an_error_survives_the_way_between_processes(kind: type[BatschedError]) -> None:
    """Runs in a pool tell their errors like runs here."""
    error = example(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("kind", LEAVES)
def test_an_error_has_an_exit_code_of_the_table(kind: type[BatschedError]) -> None:
    """2 the input, 3 our side, 4 the other side."""
    assert kind.exit_code in (2, 3, 4)


def test_an_input_error_leaves_out_what_it_does_not_know() -> None:
    """A file that cannot be read has no field."""
    assert str(InputError("a.json", "", "cannot be read")) == "a.json: cannot be read"
