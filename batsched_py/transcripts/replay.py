"""Feeding recorded requests to a decision process, up to the first decision that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from batsched_py.errors import BatschedError, ExtraError, StoreError
from batsched_py.protocol.dialects import Dialect
from batsched_py.transcripts.decisions import dialect_of_run
from batsched_py.transcripts.diff import Difference, find_difference
from batsched_py.transcripts.transcript import Exchange


class Replay(Struct, frozen=True):
    """What a replay found.

    Attributes:
        exchanges: requests that were fed.
        identical: replies that were equal byte by byte; the others of the same decision are spelled otherwise.
        difference: the first one, where the replay stopped: the recorded requests after it answer decisions that were
            not made this time.
        left: exchanges after it, which cannot be compared.
    """

    exchanges: int
    identical: int
    difference: Difference | None
    left: int = 0


def replay(
    exchanges: Iterable[Exchange],
    answer: Callable[[bytes], bytes],
    refusal: Callable[[BaseException], bytes],
    *,
    timed: bool = True,
) -> Replay:
    """Feed each recorded request to `answer` and compare its reply with the recorded one.

    Where `answer` raises an error of ours, its reply is `refusal(error)`: a run that was recorded up to a failure is
    replayed up to the same failure. StoreError and ExtraError are raised on: without the jobs in Redis there is no
    decision to compare, neither the same nor another. Without `timed` replies may have other times: those of a measured
    clock are no decisions.
    """
    dialect: Dialect | None = None
    fed = identical = 0
    remaining = iter(exchanges)
    for exchange in remaining:
        if dialect is None:
            dialect = dialect_of_run(exchange.request)
        try:
            reply = answer(exchange.request)
        except (ExtraError, StoreError):
            raise
        except BatschedError as error:
            reply = refusal(error)
        fed += 1
        identical += reply == exchange.reply
        difference = find_difference(exchange, reply, dialect, timed=timed)
        if difference is not None:
            return Replay(fed, identical, difference, sum(1 for _ in remaining))
    return Replay(fed, identical, None)
