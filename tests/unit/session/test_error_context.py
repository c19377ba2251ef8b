"""The line about an algorithm that failed: when, in answer to what, where, and why."""

from __future__ import annotations

import pytest

from batsched_py.errors import PlanError
from batsched_py.protocol.codec import Message
from batsched_py.protocol.events import RequestedCall
from batsched_py.session.error_context import failure_line, in_short, where
from tests.builders import completed, job, plan_for, state, submitted

LINE = "test_error_context.py:"


def failure(verb: object) -> Exception:
    """The error of a function of the user's, with its traceback."""
    assert callable(verb)
    with pytest.raises(Exception) as caught:  # noqa: PT011  (any will do)
        verb()
    return caught.value


def test_a_story_is_one_line_with_the_place_in_the_users_code() -> None:
    """Not the line of ours that refused."""
    error = failure(lambda: plan_for(state(1)).kill(job("x")))
    assert isinstance(error, PlanError)
    told = failure_line("mine", Message(3.5, (completed("w0!1"),)), error)
    assert told.startswith("t=3.5: mine failed on JobCompleted w0!1: kill w0!x: it does not run (" + LINE)
    assert told.endswith(")")
    assert "\n" not in told


def test_a_foreign_error_is_named_with_its_type_on_one_line() -> None:
    """Texts of errors may have any form."""

    def raises() -> None:
        raise ZeroDivisionError("first\nsecond")

    error = failure(raises)
    assert "ZeroDivisionError: first second (" + LINE in failure_line("mine", Message(0.0, ()), error)
    assert where(error).startswith(f" ({LINE}")


def test_an_error_between_two_lines_names_the_function() -> None:
    """As where a signal arrived at an instruction that belongs to no line."""

    def interrupted() -> None:
        raise ZeroDivisionError

    interrupted.__code__ = interrupted.__code__.replace(co_linetable=b"")
    assert where(failure(interrupted)) == " (test_error_context.py, in interrupted)"


def test_of_many_events_the_first_are_named() -> None:
    """The others are counted."""
    events = (submitted(job("a")), completed("w0!b"), RequestedCall(1.0), RequestedCall(1.0), RequestedCall(1.0))
    assert in_short(Message(1.0, events)) == "JobSubmitted w0!a, JobCompleted w0!b, RequestedCall and 2 more"
    assert in_short(Message(1.0, ())) == "an empty message"
