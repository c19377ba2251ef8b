"""Replays: recorded requests sent to a decision process, up to the first decision that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

from batsched_py.errors import BatschedError, ExtraError, StoreError
from batsched_py.protocol.batsim5.greeting import is_greeting
from batsched_py.protocol.dialect import Dialect
from batsched_py.text.wording import counted
from batsched_py.transcripts.decisions import (
    dialect_of_run,
    number_text,
    read_decision,
    reply_lines,
    request_line,
    request_time,
)
from batsched_py.transcripts.transcript import Exchange

#: Marks of the lines of a difference: in both replies, in the recorded one only, in the new one only.
SAME: Final = " "
RECORDED: Final = "-"
NEW: Final = "+"
#: Longer sequences of equal lines are shortened.
_ALIKE: Final = 4


class DecisionDifference(Struct, frozen=True):
    """The first exchange in which the decision of a replay differs.

    Attributes:
        exchange: its number in the recording.
        time: simulated time of the request; None if the request is not a message.
        request: the events of the request, on one line.
        lines: the decisions, a mark (SAME, RECORDED, NEW) and a command for each line.
        reordered: True if both have the same commands, in another order.
    """

    exchange: int
    time: float | None
    request: str
    lines: tuple[tuple[str, str], ...]
    reordered: bool

    def description(self) -> str:
        """Describe the difference, on several lines."""
        when = "" if self.time is None else f", t={number_text(self.time)}"
        how = "the same commands in another order" if self.reordered else "another decision"
        head = (
            f"exchange {self.exchange}{when}: {how}",
            f"  Batsim reported: {self.request}",
            f"  {RECORDED} recorded, {NEW} now",
        )
        return "\n".join((*head, *(f"  {mark} {line}" for mark, line in self.lines)))


class Replay(Struct, frozen=True):
    """The result of a replay.

    Attributes:
        exchanges: number of replayed requests.
        identical: number of replies with equal bytes; other replies are the same decisions in another encoding.
        difference: the first one, at which the replay stopped: later requests of the recording depend on decisions that
            were not made this time.
        left: number of exchanges after it, which cannot be compared.
    """

    exchanges: int
    identical: int
    difference: DecisionDifference | None
    left: int = 0


def replay(
    exchanges: Iterable[Exchange],
    answer: Callable[[bytes], bytes],
    refusal: Callable[[BaseException], bytes],
    *,
    timed: bool = True,
) -> Replay:
    """Pass each recorded request to `answer` and compare its reply with the recorded one.

    If `answer` raises a BatschedError, its reply is `refusal(error)`: a run that was recorded up to a failure is
    replayed up to the same failure. StoreError and ExtraError are not caught: without the jobs in Redis there is no
    decision to compare. Without `timed`, replies may have other times, because those of a measured clock are not
    decisions.
    """
    dialect: Dialect | None = None
    fed = identical = 0
    remaining = iter(exchanges)
    for exchange in remaining:
        if dialect is None:
            dialect = dialect_of_run(exchange.request)
        greets = is_greeting(exchange.request)
        try:
            reply = answer(exchange.request)
        except (ExtraError, StoreError):
            raise
        except BatschedError as error:
            reply = refusal(error)
        fed += 1
        identical += reply == exchange.reply
        if greets:  # the answer contains the version of batsched-py
            continue
        difference = find_difference(exchange, reply, dialect, timed=timed)
        if difference is not None:
            return Replay(fed, identical, difference, sum(1 for _ in remaining))
    return Replay(fed, identical, None)


def same_decision(recorded: bytes, new: bytes, dialect: Dialect, *, timed: bool = True) -> bool:
    """Return whether both replies have the same effect on Batsim.

    `10.0` for `10`, `0-1` for `1,0` or a mapping equal to Batsim's default make no difference. Without `timed`, times
    may differ.
    """
    if recorded == new:
        return True
    left, right = (read_decision(reply, dialect, timed=timed) for reply in (recorded, new))
    return left == right or (left.stopped and right.stopped)


def find_difference(
    exchange: Exchange, new: bytes, dialect: Dialect, *, timed: bool = True
) -> DecisionDifference | None:
    """Return the difference between the new and the recorded reply; None if they are the same decision."""
    if same_decision(exchange.reply, new, dialect, timed=timed):
        return None
    time = request_time(exchange.request)
    asked_at = time if timed else None
    before = reply_lines(exchange.reply, dialect, asked_at) or ("(nothing)",)
    after = reply_lines(new, dialect, asked_at) or ("(nothing)",)
    return DecisionDifference(
        exchange.number, time, request_line(exchange.request), _compare(before, after), sorted(before) == sorted(after)
    )


def _compare(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    lines: list[tuple[str, str]] = []
    for kind, old_from, old_to, new_from, new_to in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [(SAME, line) for line in _shortened(before[old_from:old_to])]
        else:
            lines += [(RECORDED, line) for line in before[old_from:old_to]]
            lines += [(NEW, line) for line in after[new_from:new_to]]
    return tuple(lines)


def _shortened(alike: tuple[str, ...]) -> tuple[str, ...]:
    """Shorten a long run of equal lines: they matter only next to lines that differ."""
    if len(alike) <= _ALIKE:
        return alike
    return alike[0], f"({counted(len(alike) - 2, 'more line')} alike)", alike[-1]
