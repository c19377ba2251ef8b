"""The order of what happens, and the clock."""

from batsched_py.simulator.time.event_queue import RANK_CALL, RANK_END, RANK_SUBMISSION, EventQueue


def test_ties_go_by_rank_then_by_order_of_asking() -> None:
    """So the same input always happens in the same order."""
    queue, happened = EventQueue(), list[str]()
    for name, rank in (
        ("call", RANK_CALL),
        ("second end", RANK_END),
        ("job", RANK_SUBMISSION),
        ("third end", RANK_END),
    ):
        queue.at(5.0, rank, happened.append, name)
    queue.run_until(5.0)
    assert happened == ["job", "second end", "third end", "call"]


def test_what_is_cancelled_does_not_happen_and_is_not_waited_for() -> None:
    """The clock does not move for it."""
    queue, happened = EventQueue(), list[str]()
    ticket = queue.at(5.0, RANK_END, happened.append, "never")
    queue.cancel(ticket)
    assert not queue.run_next()
    queue.run_until(9.0)
    assert (happened, queue.now) == ([], 9.0)


def test_what_is_cancelled_between_other_things_is_passed_over() -> None:
    """Any events may come before and after it."""
    queue, happened = EventQueue(), list[str]()
    tickets = [queue.at(time, RANK_END, happened.append, f"{time:g}") for time in (1.0, 2.0, 3.0)]
    queue.cancel(tickets[1])
    queue.run_until(9.0)
    assert happened == ["1", "3"]


def test_the_next_instant_is_run_as_a_whole() -> None:
    """No other one is run."""
    queue, happened = EventQueue(), list[str]()
    for name, time in (("late", 7.0), ("early", 5.0), ("early too", 5.0)):
        queue.at(time, RANK_END, happened.append, name)
    assert queue.run_next()
    assert (happened, queue.now) == (["early", "early too"], 5.0)


def test_the_past_is_now() -> None:
    """An event that is added too late happens at the current time."""
    queue, seen = EventQueue(), list[float]()
    queue.run_until(3.0)
    queue.at(1.0, RANK_END, lambda _: seen.append(queue.now), None)
    queue.run_until(3.0)
    assert seen == [3.0]


def test_messages_are_told_six_decimals() -> None:
    """The clock itself stays exact."""
    queue = EventQueue()
    queue.run_until(1 / 3)
    assert (queue.now, queue.stamp) == (1 / 3, 0.333333)
