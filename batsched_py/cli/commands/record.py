"""`batsched-py record`: pass messages between any Batsim and any decision process, and record them."""

from __future__ import annotations

from pathlib import Path

import click

from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.parameters import PATH, Seconds, connect_timeout_option, option, read_address
from batsched_py.cli.shared.terminal import say
from batsched_py.text.wording import counted
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.proxy import relay
from batsched_py.transcripts.recorder import Recorder
from batsched_py.transport.zmq_rep import RepSocket
from batsched_py.transport.zmq_req import ReqSocket


@typed_command()
@click.argument("path", type=PATH, metavar="FILE")
@option(
    "--listen",
    "ADDRESS",
    "Address for Batsim to connect to; use port * for a free port.",
    callback=read_address,
    default="tcp://127.0.0.1:28000",
)
@option("--connect", "ADDRESS", "Where the decision process listens.", callback=read_address, required=True)
@option(
    "--timeout",
    "S",
    "Stop if either side sends nothing for S seconds. Default: never; if one dies, the command ends anyway.",
    type=Seconds(min=0, min_open=True),
)
@connect_timeout_option("After Batsim's first message, wait so long for the decision process to listen.")
def command(path: Path, listen: str, connect: str, timeout: float | None, connect_timeout: float) -> None:
    """Pass messages between Batsim and a decision process, and record them in FILE (.jsonl or .jsonl.gz).

    Start the decision process at the address of --connect, and Batsim with the address of --listen. Messages are passed
    on unchanged. The command ends when the simulation ends; if one side fails, the other is not left waiting.
    """
    if listen == connect:
        raise click.UsageError("'--listen' and '--connect' are the same address: the recorder would talk to itself")
    limits = current_limits()
    decider = ReqSocket(connect, connect_timeout=connect_timeout, answer_timeout=timeout, limits=limits)
    with decider, RepSocket(listen, limits) as batsim, Recorder(path, Header()) as recorder:
        say(f"listens on {batsim.address} for Batsim, asks the decision process on {connect}", err=True)
        exchanges = relay(batsim, decider.exchange, recorder.record, timeout=timeout)
    say(f"the simulation ended after {counted(exchanges, 'message')}", err=True)
