"""Commands of a reply are applied in turn, each not before its time."""

from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import CallMeLater
from batsched_py.simulator.time.event_queue import RANK_CALL, EventQueue
from batsched_py.simulator.time.instant_loop import apply_reply


def test_time_passes_up_to_each_command_and_to_the_reply() -> None:
    """Events that are due happen between them; a command of the past is applied now."""
    queue, happened = EventQueue(), list[tuple[str, float]]()
    queue.at(1.5, RANK_CALL, lambda name: happened.append((name, queue.now)), "due")
    queue.at(4.0, RANK_CALL, lambda name: happened.append((name, queue.now)), "later")
    commands = (CallMeLater(0.0, 9.0), CallMeLater(2.0, 9.0), CallMeLater(1.0, 9.0))
    apply_reply(queue, Message(3.0, commands), lambda position, _: happened.append((str(position), queue.now)))
    assert happened == [("0", 0.0), ("due", 1.5), ("1", 2.0), ("2", 2.0)]
    assert queue.now == 3.0
