"""`batsched-py replay`: send the requests of a recording to an algorithm again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from batsched_py.cli.shared.algorithm import AlgorithmChoice, RecordedOptions, Warnings
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.parameters import PATH, algorithm_options, flag
from batsched_py.cli.shared.redis_place import redis_options
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import RemoteProtocolError, TranscriptError
from batsched_py.model.features import Features
from batsched_py.plugins import is_built_in
from batsched_py.protocol.batsim5.greeting import is_greeting, read_hello
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.replay import NEW, RECORDED, Replay, replay
from batsched_py.transcripts.transcript import Transcript

_COLOURS: Final = {RECORDED: "red", NEW: "green"}


@typed_command()
@click.argument("recording", type=PATH, metavar="RUN.jsonl")
@algorithm_options
@flag(
    "--trust-header",
    "Load the code named in the recording's header, file.py:Class or module:function: this runs its author's code.",
)
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
    found = _recorded_choice(choice, str(recording), header, trusted=trust_header)
    session = found.session(features=_recorded_features(transcript))
    outcome = replay(transcript, session.answer, session.refusal, timed=header.clock != "measured")
    if not outcome.exchanges:
        raise TranscriptError(str(recording), "", "holds no exchange; there is nothing to compare")
    _show(found.algorithm, outcome)
    return 1 if outcome.difference is not None else 0


def _recorded_choice(choice: AlgorithmChoice, recording: str, header: Header, *, trusted: bool) -> AlgorithmChoice:
    """Complete the user's choice with the options in the header."""
    given = choice.algorithm
    name = given or header.algorithm
    if not name:
        raise click.UsageError("Missing option '-s': the recording does not say which algorithm decided")
    if not (given or trusted or is_built_in(name)):
        named = f"its header names {displayed(name)}, which is not built in"
        raise TranscriptError(recording, "", f"{named}: if you trust it, name it with -s, or say --trust-header")
    options = header.options if name == header.algorithm else {}
    recorded = RecordedOptions(recording, options, trusted)
    # Measured times are not reproducible: the replay measures none, and ignores times in the comparison.
    clock = "zero" if header.clock == "measured" else header.clock
    return replace(
        choice,
        algorithm=name,
        clock=clock,
        recorded=recorded,
        requests=header.requests,
        call_every=header.call_every,
        compute_sharing=header.compute_sharing,
    )


def _recorded_features(transcript: Transcript) -> Features | None:
    """Return the features requested from Batsim 5, which determine its messages; None without any. TranscriptError."""
    first = next(iter(transcript), None)
    if first is None or not is_greeting(first.request):
        return None
    try:
        return read_hello(first.reply).features
    except RemoteProtocolError:  # the decision process failed immediately
        return None


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
