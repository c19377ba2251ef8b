"""The program `batsched-py`: finds the command, and converts any failure into one line and an exit code.

Exit codes:
    0    success
    1    a replay or two recordings differ, results contain contradictions, an algorithm breaks a rule of `judge`, or
         Haizea's data lacks a counter
    2    the input or the usage is wrong: a file, an option, the name of an algorithm
    3    this side failed: the algorithm raised, its plan or decision was refused, or the simulation is deadlocked
    4    the other side failed: it broke the protocol, died, or was silent for too long; or there is no connection
    129  hung up (SIGHUP)
    130  interrupted (Ctrl-C)
    141  the reader closed the output (a closed pipe, as in `| head`); no error
    143  terminated (SIGTERM)
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from locale import getencoding
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

import batsched_py
from batsched_py.builds import describe_build
from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.shared import terminal
from batsched_py.cli.shared.command import COMMON, Invocation
from batsched_py.cli.shared.guard import PROGRAM, ClosedPipeError, guarded, report, report_unwritten
from batsched_py.cli.shared.haizea_names import in_our_words
from batsched_py.cli.shared.interruption import raise_on_signals
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.errors import BatschedError, DeadlockError, InputError
from batsched_py.interruption import Interruption
from batsched_py.text.wording import did_you_mean

_EPILOG: Final = """\b
Exit codes: 0 success; 1 a replay decided differently, two recordings differ, or
results contradict themselves; 2 wrong input or usage; 3 the scheduler failed (algorithm, refused decision,
deadlock); 4 the other side failed (protocol, death, silence, no connection);
129 SIGHUP; 130 Ctrl-C; 141 closed pipe; 143 SIGTERM."""


#: Length of the longest name of a command.
_LONGEST: Final = max(map(len, COMMANDS))


@contextmanager
def _closed_pipe_as_error() -> Iterator[None]:
    """Raise ClosedPipeError for a closed pipe, for which click would exit."""
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipeError from error


class LazyGroup(OnceGroup):
    """The group of the commands in the table, which are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the commands in the order of the table, which suits newcomers."""
        return list(COMMANDS)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command without importing any."""
        del ctx
        return [CompletionItem(name, help=COMMANDS[name].purpose) for name in COMMANDS if name.startswith(incomplete)]

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the arguments, and show `--help` on request. ClosedPipeError."""
        with _closed_pipe_as_error():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. ClosedPipeError."""
        with _closed_pipe_as_error():
            return super().invoke(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module = cmd_name.replace("-", "_")
        command: click.Command = importlib.import_module(f"batsched_py.cli.commands.{module}").command
        command.epilog = f"\b\nExample:\n  {PROGRAM} {COMMANDS[cmd_name].example}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command and its arguments, translating those of Haizea; UsageError with a similar name."""
        args = in_our_words(args)
        name = click.utils.make_str(args[0])
        suggestion = did_you_mean(name, COMMANDS)
        if name not in COMMANDS and not name.startswith("-") and suggestion:
            raise click.UsageError(f"No such command '{name}'; {suggestion}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands by their groups, without importing them."""
        for group, rows in groupby(COMMANDS.items(), key=lambda row: row[1].group):
            with formatter.section(group):
                formatter.write_dl([(name.ljust(_LONGEST), info.purpose) for name, info in rows])


@click.group(
    cls=LazyGroup, epilog=_EPILOG, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(f"{batsched_py.__version__} ({describe_build()})", prog_name=PROGRAM)
def batsched() -> None:
    """Write, run and compare scheduling algorithms, with the simulator Batsim or without it."""


batsched.params += COMMON


def main() -> None:
    """Run the program and exit."""
    raise_on_signals()
    terminal.prepare_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; an error is one line on stderr."""
    return guarded(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    """Run as `run`; ClosedPipeError if the reader has closed the pipe, OSError if other output cannot be written."""
    invocation = Invocation(arguments=tuple(arguments))
    try:
        _check_text(arguments)
        code = batsched.main(args=list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=invocation)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        report("error", _one_line(_usage(error)))
        return error.exit_code
    except ClosedPipeError:
        raise
    except Interruption as interruption:
        _trace(invocation)
        report(str(interruption))
        return interruption.exit_code
    except BatschedError as error:
        _trace(invocation)
        report("error", error.why if isinstance(error, DeadlockError) else _one_line(str(error)))
        for line in _details(error):
            terminal.say(f"  {line}", err=True)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last place where a defect can become a line
        _trace(invocation)
        if terminal.is_full(error):
            return report_unwritten(error)
        if isinstance(error, OSError) and error.filename is not None:  # a name that is too long, a loop of links...
            report("error", f"{os.fsdecode(error.filename)}: {error.strerror or error}")
            return BatschedError.exit_code
        report(
            "internal error",
            f"{type(error).__name__}: {_one_line(str(error))}; please report it with what --debug prints",
        )
        return 3
    return code if isinstance(code, int) else 0


def _details(error: BatschedError) -> Iterable[str]:
    """Return the lines below the line of an error: the waiting jobs, or the further faults of a file."""
    if isinstance(error, DeadlockError):
        return error.waiting
    return [_one_line(str(fault)) for fault in error.others] if isinstance(error, InputError) else []


def _check_text(arguments: Sequence[str]) -> None:
    """Check that arguments are valid text, which files and messages can contain. UsageError."""
    wrong = terminal.undecodable(arguments)
    if wrong is not None:
        shown = wrong.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        raise click.UsageError(f"argument '{shown}' is not text in the encoding of this terminal ({getencoding()})")


def _usage(error: click.ClickException) -> str:
    """Describe the usage error, with a pointer to the help."""
    context = getattr(error, "ctx", None)
    help_command = context.command_path if context is not None else PROGRAM
    return f"{error.format_message().removesuffix('.')} (see {help_command} --help)"


def _trace(invocation: Invocation) -> None:
    if invocation.debug:
        for line in traceback.format_exc().splitlines():
            terminal.say(line, err=True)


def _one_line(text: str) -> str:
    """Return the text of any exception as one line."""
    return " | ".join(line.strip() for line in text.splitlines() if line.strip())
