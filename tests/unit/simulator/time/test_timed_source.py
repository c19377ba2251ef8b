"""A timed source delivers its items in order of time, those of one time together."""

from collections.abc import Iterator

from batsched_py.simulator.time.event_queue import RANK_SUBMISSION, EventQueue
from batsched_py.simulator.time.mailbox import InstantMailbox
from batsched_py.simulator.time.timed_source import TimedSource


def test_items_of_one_time_are_delivered_together() -> None:
    """The end comes at the time of the last item; nothing happens before the source is started."""
    queue, delivered = EventQueue(), list[tuple[float, list[float]]]()
    source: TimedSource[float] = TimedSource(
        queue,
        InstantMailbox(),
        RANK_SUBMISSION,
        iter([1.0, 2.0, 2.0, 5.0]),
        time=lambda item: item,
        deliver=lambda items: delivered.append((queue.now, items)),
        finish=lambda: delivered.append((queue.now, [])),
    )
    assert not queue.run_next()
    source.start()
    while queue.run_next():
        pass
    assert delivered == [(1.0, [1.0]), (2.0, [2.0, 2.0]), (5.0, [5.0]), (5.0, [])]


def test_items_are_taken_one_ahead() -> None:
    """A workload of a million jobs is decoded as its time comes."""
    taken = list[float]()

    def items() -> Iterator[float]:
        for item in (1.0, 2.0, 3.0):
            taken.append(item)
            yield item

    queue = EventQueue()
    source: TimedSource[float] = TimedSource(
        queue,
        InstantMailbox(),
        RANK_SUBMISSION,
        items(),
        time=lambda item: item,
        deliver=lambda _: None,
        finish=lambda: None,
    )
    source.start()
    queue.run_until(1.0)
    assert taken == [1.0, 2.0]
