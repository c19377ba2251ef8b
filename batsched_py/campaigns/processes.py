"""Work in processes: each piece in a new one, so that no piece sees what another left behind in its modules."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType, ModuleType
from typing import Final, Generic, NoReturn, TypeVar
from warnings import catch_warnings, filterwarnings

import cloudpickle
from msgspec import Struct

from batsched_py.signals import STOPS, held_back

Value = TypeVar("Value")

#: What each process finds loaded: all that a simulation needs but for the algorithm.
_PRELOADED: Final = ["batsched_py.campaigns.study", "batsched_py.api"]
#: Seconds that a process which shall stop may take to clean up.
_GRACE: Final = 5.0
#: Seconds from one attempt to start a process whose server was killed to the next.
_PAUSES: Final = (0.01, 0.1, 1.0)


class Ended(Struct, Generic[Value], frozen=True):
    """A piece of work that is over.

    Attributes:
        position: among the pieces.
        value: what it returned; None if its process died.
        exit_code: of the process: minus the signal that ended it, 0 if all went well.
    """

    position: int
    value: Value | None
    exit_code: int = 0


def run_apart(pieces: Sequence[Callable[[], Value]], processes: int) -> Generator[Ended[Value], None, None]:
    """Call each piece in a process of its own, at most `processes` at a time; what ends first comes first.

    Pieces and what they return are pickled, the pieces with what they need of a script or a notebook, which no process
    runs again: a script needs no `if __name__ == "__main__":`. What they print goes to stderr. They hear neither Ctrl-C
    nor SIGHUP: whoever iterates does, and when it leaves, by whatever exception, the processes end. They end, too, if
    it is killed.
    """
    waiting = deque(enumerate(pieces))
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    _start_server()
    try:
        while waiting or running:
            with held_back():  # a process that is half started is one that nobody can stop
                while waiting and len(running) < processes:
                    _start(*waiting.popleft(), running)
            for receiver in wait(list(running)):
                assert isinstance(receiver, Connection)  # noqa: S101  # nothing else was given
                position, process = running[receiver]
                value = _received(receiver)
                process.join()
                with held_back():
                    del running[receiver]
                    receiver.close()
                yield Ended(position, value, process.exitcode or 0)
    finally:
        with held_back():
            _stop([process for _, process in running.values()])


def _start_server() -> None:
    """Processes are forks of a clean one, which has one thread and loads our modules once.

    It is born deaf to what a terminal, or the end of a batch job, sends to all: only whoever started the work answers.
    """
    with held_back(), _unannounced():
        get_context("forkserver").set_forkserver_preload(_PRELOADED)
        resource_tracker.ensure_running()  # which the server would start, and which unblocks signals
        with _deaf():
            forkserver.ensure_running()


@contextmanager
def _deaf() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _unannounced() -> Iterator[None]:
    """Without Python's warning that its process for resources was killed, and is started again: we have none."""
    with catch_warnings():
        filterwarnings("ignore", "resource_tracker: process died", UserWarning)
        yield


@contextmanager
def _without_main() -> Iterator[None]:
    """With an empty module in the place of the script or the notebook, which a new process would run again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _start(position: int, piece: Callable[[], Value], running: dict[Connection, tuple[int, BaseProcess]]) -> None:
    context = get_context("forkserver")
    receiver, sender = context.Pipe(duplex=False)
    pickled = cloudpickle.dumps(piece)
    for pause in (*_PAUSES, None):
        process = context.Process(target=_work, args=(pickled, sender))
        running[receiver] = position, process
        try:
            with _without_main(), _unannounced():
                process.start()
            break
        except (EOFError, ConnectionError):  # somebody killed the server at this moment; the next call starts another
            if pause is None:
                raise
            time.sleep(pause)  # until the system has noticed its death
    sender.close()


def _received(receiver: Connection) -> Value | None:
    """What a piece returned; None if its process died before."""
    try:
        value: Value = receiver.recv()
    except EOFError:
        return None
    return value


def _work(pickled: bytes, sender: Connection) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow_the_parent, daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    sys.stdout.flush()
    os.dup2(2, 1)
    value = pickle.loads(pickled)()  # noqa: S301  # from our parent
    try:
        sender.send(value)
    except BrokenPipeError:  # nobody is there any more
        sys.exit(1)


def _follow_the_parent() -> None:
    """End this process after the one that wanted its work; a thread of its own, born deaf to all that stops."""
    parent = parent_process()
    assert parent is not None  # noqa: S101  # multiprocessing started this process
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    os._exit(1)


def _leave(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    """Unwind, so that no half of a file stays."""
    sys.exit(128 + number)


def _stop(processes: Sequence[BaseProcess]) -> None:
    started = [process for process in processes if process.pid is not None]
    for process in started:
        process.terminate()
    for process in started:
        process.join(_GRACE)
        if process.is_alive():
            process.kill()
            process.join()
