"""The algorithm and the options of a recording, completed by the user's."""

from __future__ import annotations

from typing import Final

import click
from msgspec.structs import replace

from batsched_py.cli.shared.algorithm import AlgorithmChoice, RecordedOptions
from batsched_py.cli.shared.parameters import flag
from batsched_py.errors import RemoteProtocolError, TranscriptError
from batsched_py.model.features import Features
from batsched_py.plugins import is_built_in
from batsched_py.protocol.batsim5.greeting import is_greeting, read_hello
from batsched_py.text.display import displayed
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.transcript import Transcript

trust_option: Final = flag(
    "--trust-header",
    "Load the code named in the recording's header, file.py:Class or module:function: this runs its author's code.",
)


def recorded_choice(choice: AlgorithmChoice, recording: str, header: Header, *, trusted: bool) -> AlgorithmChoice:
    """Complete the user's choice with the algorithm and the options in the header.

    UsageError if neither has an algorithm. TranscriptError if the header names code, unless it is `trusted`.
    """
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


def recorded_features(transcript: Transcript) -> Features | None:
    """Return the features requested from Batsim 5, which determine its messages; None without any. TranscriptError."""
    first = next(iter(transcript), None)
    if first is None or not is_greeting(first.request):
        return None
    try:
        return read_hello(first.reply).features
    except RemoteProtocolError:  # the decision process failed immediately
        return None
