"""The blame for a conversation in one process that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import RefusedError, RemoteProtocolError
from batsched_py.runs.choice import Choice, make_session
from batsched_py.runs.session_run import exchange_of
from batsched_py.simulator.wire.scheduler_link import DirectExchange
from batsched_py.transcripts.recorder import Recorder


@pytest.mark.parametrize(
    ("path", "rule", "said"),
    [("now", "must be a number", "t=0: now: must be a number"), ("", "t=3: no", "t=3: no")],
)
def test_a_reply_of_ours_that_the_simulator_refuses(path: str, rule: str, said: str) -> None:
    """Our side failed, and the line says when."""
    with pytest.raises(RefusedError) as caught, exchange_of(make_session(Choice("easy"))):
        raise RemoteProtocolError(path, rule)
    assert str(caught.value) == said
    assert caught.value.exit_code == 3


def test_messages_are_written_if_they_are_recorded(tmp_path: Path) -> None:
    """Otherwise they are written only if they have to be."""
    session = make_session(Choice("easy"))
    with exchange_of(session) as exchange:
        assert isinstance(exchange, DirectExchange)
    with (
        Recorder(tmp_path / "run.jsonl", Choice("easy").header()) as recorder,
        exchange_of(session, recorder) as exchange,
    ):
        assert not isinstance(exchange, DirectExchange)
