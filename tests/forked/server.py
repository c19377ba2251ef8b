"""Has batsched-py loaded, and forks a process for each command that a client asks for.

It is run as `python -P server.py DESCRIPTOR MODULE...`: that of a socket that listens, and modules that its commands
load late. It ends when its standard input does.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TextIO, cast

#: A request is not longer, nor are arguments and environment of any process here.
LONGEST = 200_000

#: Signals that are for commands: whoever ends the tests from the keyboard means the tests.
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def preload(modules: list[str]) -> Callable[[], None]:
    """The program, once it has all commands, algorithms and these modules: processes have them from their beginning."""
    program = importlib.import_module("batsched_py.cli.__main__")
    for command in importlib.import_module("batsched_py.cli.catalogue").COMMANDS:
        importlib.import_module(f"batsched_py.cli.commands.{command.replace('-', '_')}")
    for algorithm in importlib.import_module("batsched_py.schedulers").BUILT_INS.values():
        importlib.import_module(algorithm.partition(":")[0])
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # else each process would copy what it only looks at
    main: Callable[[], None] = program.main
    return main


def serve(listener: socket.socket, program: Callable[[], None]) -> NoReturn:
    """One process beside each command keeps it, so that this one has nothing to remember."""
    while True:
        if 0 in select.select([listener.fileno(), 0], [], [])[0]:
            os._exit(0)
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            keep(connection, program)
        connection.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def keep(connection: socket.socket, program: Callable[[], None]) -> NoReturn:
    """Start the command of a client, pass the client's signals on, and tell how it ended; it dies with the client."""
    request, streams, _, _ = socket.recv_fds(connection, LONGEST, 3)
    if not request:  # a client that has died already
        os._exit(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)  # until it heeds them
    command = os.fork()
    if command == 0:
        connection.close()
        become(request, streams)
        run(program)
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(command)
    while ended not in select.select([connection.fileno(), ended], [], [])[0]:
        number = connection.recv(1)
        os.kill(command, number[0] if number else signal.SIGKILL)
    _, status = os.waitpid(command, 0)
    with suppress(OSError):  # a client that has died meanwhile
        connection.send(b"%d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def become(request: bytes, streams: list[int]) -> None:
    """Make this the process that the client would have been: its streams, folder, arguments and environment."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = map(reopened, (0, 1, 2), (sys.stdin, sys.stdout, sys.stderr), "rww")
    folder, count, *rest = request.split(b"\0")
    arguments, environment = rest[: int(count)], rest[int(count) :]
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(dict(item.split(b"=", 1) for item in environment))
    time.tzset()
    sys.argv[1:] = map(os.fsdecode, arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)


def reopened(number: int, stream: TextIO, mode: str) -> TextIO:
    """As Python does at its start, for which it looks at what is there."""
    buffering = 1 if number == 2 else -1
    return cast("TextIO", os.fdopen(number, mode, buffering, stream.encoding, stream.errors, closefd=False))


def run(program: Callable[[], None]) -> NoReturn:
    """To the end, but for taking to pieces what was loaded, which takes longer than most commands."""
    try:
        program()
    except SystemExit as end:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)
    raise AssertionError("the program has no other end")


if __name__ == "__main__":
    for ignored in PASSED_ON:
        signal.signal(ignored, signal.SIG_IGN)
    serve(socket.socket(fileno=int(sys.argv[1])), preload(sys.argv[2:]))
