"""`batsched-py replay`: send the requests of a recording to an algorithm again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from batsched_py.cli.shared.algorithm import AlgorithmChoice, Warnings
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.parameters import PATH, algorithm_options
from batsched_py.cli.shared.recorded_choice import recorded_choice, recorded_features, trust_option
from batsched_py.cli.shared.redis_place import redis_options
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import TranscriptError
from batsched_py.text.wording import counted
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.replay import NEW, RECORDED, Replay, replay
from batsched_py.transcripts.transcript import Transcript

_COLOURS: Final = {RECORDED: "red", NEW: "green"}


@typed_command()
@click.argument("recording", type=PATH, metavar="RUN.jsonl")
@algorithm_options
@trust_option
@redis_options
def command(recording: Path, choice: AlgorithmChoice, *, trust_header: bool) -> int:
    """Send the requests of the recording RUN.jsonl to an algorithm and compare its decisions with the recorded ones.

    Algorithm, options and clock are those of the recording unless you give others; another algorithm does not use the
    recorded options. The exit code is 0 if all decisions are the same, 1 if one differs. The replay shows the first
    difference and stops there, because Batsim's next messages depend on the recorded decision.

    A recording can select built-in algorithms and functions only: give your own with -s and -o.
    """
    transcript = Transcript(recording, Warnings(), limits=current_limits())
    header = transcript.header or Header()
    found = recorded_choice(choice, str(recording), header, trusted=trust_header)
    session = found.session(features=recorded_features(transcript))
    outcome = replay(transcript, session.answer, session.refusal, timed=header.clock != "measured")
    if not outcome.exchanges:
        raise TranscriptError(str(recording), "", "holds no exchange; there is nothing to compare")
    _show(found.algorithm, outcome)
    return 1 if outcome.difference is not None else 0


def _show(name: str, outcome: Replay) -> None:
    if outcome.difference is None:
        same = f"all decisions are the same ({counted(outcome.identical, 'reply', 'replies')} byte for byte)"
        say(f"{name}: {counted(outcome.exchanges, 'exchange')}, {same}")
        return
    total = outcome.exchanges + outcome.left
    say(f"{name}: {outcome.exchanges - 1} of {counted(total, 'exchange')} with the same decision, then:")
    for line in outcome.difference.description().splitlines():
        say(line, colour=_COLOURS.get(line[2:3]))
    if outcome.left:
        say(f"{counted(outcome.left, 'more exchange')} cannot be compared: there Batsim answers the recorded decision")
