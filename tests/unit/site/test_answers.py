"""Answers that are encoded once for each snapshot."""

from __future__ import annotations

from itertools import count

from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.site.api.answers import Answers
from batsched_py.site.board import Board


def test_an_answer_is_made_once_for_each_snapshot() -> None:
    """Each question has its own."""
    board = Board(Session(load("fcfs"), requests=True))
    answers, numbers = Answers(board), count()
    assert [answers.find(("hosts", 0), lambda: [next(numbers)]) for _ in range(3)] == [b"[0]"] * 3
    assert answers.find(("hosts", 1), lambda: [next(numbers)]) == b"[1]"
    board.see()
    assert answers.find(("hosts", 0), lambda: [next(numbers)]) == b"[2]"


def test_callers_cannot_fill_the_memory() -> None:
    """A new question forgets the others, if there are many."""
    answers, numbers = Answers(Board(Session(load("fcfs"), requests=True))), count()
    for question in range(1000):
        assert answers.find(question, lambda: next(numbers)) == b"%d" % question
    assert answers.find(0, lambda: next(numbers)) == b"1000"
    assert answers.find(999, lambda: next(numbers)) == b"999"
