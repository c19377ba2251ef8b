"""The program `batsched-py`: finds the command, and turns whatever ends it into one line and an exit code.

Exit codes:
    0    all is well
    1    a replay decided otherwise than the recording, or two recordings differ
    2    the input or the usage is wrong: a file, an option, the name of an algorithm
    3    our side failed: the algorithm raised, its plan or decision was refused, the simulation stands still
    4    the other side failed: it broke the protocol, died, or was silent for too long; or there is no connection
    129  hung up (SIGHUP)
    130  interrupted (Ctrl-C)
    141  nobody read the output to its end (a closed pipe, as in `| head`); no error
    143  terminated (SIGTERM)
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from locale import getencoding
from typing import Any, Final

import click

import batsched_py
from batsched_py.cli.shared.interruption import Interruption, raise_on_signals
from batsched_py.cli.shared.parameters import Invocation, debug_option
from batsched_py.cli.shared.streams import (
    CLOSED_PIPE,
    finish_stdout,
    give_up_stdout,
    is_full,
    prepare_streams,
    undecodable,
)
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import BatschedError, DeadlockError
from batsched_py.wording import did_you_mean

PROGRAM: Final = "batsched-py"

#: Command -> (module, what it does). The modules are imported when needed: `serve` must not wait for the simulator.
COMMANDS: Final = {
    "serve": ("serve", "Decide for Batsim, over ZeroMQ."),
    "simulate": ("simulate", "Run a workload on a platform without Batsim."),
    "compare": ("compare", "Run several algorithms on the same workloads, and compare them."),
    "batsim": ("batsim", "Run Batsim in a container and decide for it."),
    "metrics": ("metrics", "Show the figures of runs: Batsim's, ours, or a log's."),
    "record": ("record", "Record what a Batsim and a decision process say to each other."),
    "replay": ("replay", "Ask an algorithm again what a recording asked, and compare."),
    "diff": ("diff", "Compare what happened in two recorded runs."),
    "report": ("report", "Show runs on a page, and what differs between them."),
    "gantt": ("gantt", "Draw which jobs ran on which hosts, here or for a paper."),
    "plot": ("plot", "Draw waits, slowdowns, utilisation or queue of runs, for a paper."),
    "list": ("listing", "Show the algorithms there are."),
    "describe": ("describe", "Show an algorithm's options and its source."),
    "new": ("new", "Write the beginning of an algorithm, and its tests."),
    "convert": ("convert", "Make a workload from a log in SWF."),
    "generate": ("generate", "Make a synthetic workload, and a platform to run it."),
}

_EPILOG: Final = """\b
Exit codes: 0 all is well; 1 a replay decided otherwise, or two recordings differ;
2 wrong input or usage; 3 our side failed (algorithm, plan, refused decision,
standstill); 4 the other side failed (protocol, death, silence, no connection);
129 SIGHUP; 130 Ctrl-C; 141 closed pipe; 143 SIGTERM."""


class ClosedPipeError(Exception):
    """Nobody reads what we write any more. Of the OSError that says so click would make exit code 1."""


@contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipeError from error


class LazyGroup(click.Group):
    """Commands by the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """In the order of the table, which is that of a newcomer's interest."""
        return list(COMMANDS)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse; `--help` is shown meanwhile. ClosedPipeError."""
        with _told_apart():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. ClosedPipeError."""
        with _told_apart():
            return super().invoke(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command's module; None for a name that is not in the table."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"batsched_py.cli.commands.{COMMANDS[cmd_name][0]}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command and its arguments; UsageError with the command that may have been meant."""
        name = click.utils.make_str(args[0])
        suggestion = did_you_mean(name, COMMANDS)
        if name not in COMMANDS and not name.startswith("-") and suggestion:
            raise click.UsageError(f"No such command '{name}'; {suggestion}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List them without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup, epilog=_EPILOG, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(batsched_py.__version__, prog_name=PROGRAM)
@debug_option
def batsched() -> None:
    """Decide for the Batsim platform simulator, or do without Batsim."""


def main() -> None:
    """The console command."""
    raise_on_signals()
    prepare_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command; returns its exit code, after saying on stderr, in one line, what went wrong if something did.

    A reader that closes the pipe (`| head`) has what it wanted: nothing is said.
    """
    try:
        code = _run(arguments)
        finish_stdout()
    except (BrokenPipeError, ClosedPipeError):
        give_up_stdout()
        return CLOSED_PIPE
    except OSError as error:
        return _unwritten(error)
    return code


def _run(arguments: Sequence[str]) -> int:
    """As `run`; ClosedPipeError if nobody reads what is written, OSError if it could not be written at the end."""
    invocation = Invocation()
    try:
        _check_text(arguments)
        code = batsched.main(args=list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=invocation)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        _tell("error", _one_line(_usage(error)))
        return error.exit_code
    except ClosedPipeError:
        raise
    except Interruption as interruption:
        _trace(invocation)
        _tell(str(interruption))
        return interruption.exit_code
    except BatschedError as error:
        _trace(invocation)
        _tell("error", error.why if isinstance(error, DeadlockError) else _one_line(str(error)))
        for line in error.waiting if isinstance(error, DeadlockError) else ():
            say(f"  {line}", err=True)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last place where a defect can be told in a line
        _trace(invocation)
        if is_full(error):
            return _unwritten(error)
        if isinstance(error, OSError) and error.filename is not None:  # a name that is too long, a loop of links...
            _tell("error", f"{os.fsdecode(error.filename)}: {error.strerror or error}")
            return BatschedError.exit_code
        _tell(
            "internal error",
            f"{type(error).__name__}: {_one_line(str(error))}; please report it with what --debug prints",
        )
        return 3
    return code if isinstance(code, int) else 0


def _check_text(arguments: Sequence[str]) -> None:
    """UsageError for an argument that no file of ours could hold, and no message of ours could name."""
    wrong = undecodable(arguments)
    if wrong is not None:
        shown = wrong.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        raise click.UsageError(f"argument '{shown}' is no text in the encoding of this terminal ({getencoding()})")


def _unwritten(error: Exception) -> int:
    """The exit code, once it is told that standard output is not complete."""
    give_up_stdout()
    _tell("error", f"standard output cannot be written: {getattr(error, 'strerror', None) or error}")
    return BatschedError.exit_code


def _usage(error: click.ClickException) -> str:
    """What is wrong with the arguments, and where to look."""
    context = getattr(error, "ctx", None)
    help_command = context.command_path if context is not None else PROGRAM
    return f"{error.format_message()} (see {help_command} --help)"


def _trace(invocation: Invocation) -> None:
    if invocation.debug:
        for line in traceback.format_exc().splitlines():
            say(line, err=True)


def _one_line(text: str) -> str:
    """Of exceptions that are not ours, too."""
    return " | ".join(line.strip() for line in text.splitlines() if line.strip())


def _tell(*parts: str) -> None:
    """On stderr; where nobody can read it, the exit code still tells."""
    with suppress(OSError):
        say(": ".join((PROGRAM, *parts)), err=True)
