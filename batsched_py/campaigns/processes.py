"""Pieces of work in processes: a new process for each, so that no piece sees the module state of another.

Processes are forks of a server that has one thread and has imported batsched-py once. Pieces of work are pickled with
the classes and functions of scripts, notebooks and files that they use, so that no process runs a script again.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import current_process, forkserver, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType, ModuleType
from typing import Any, Final, Generic, TypeVar, get_type_hints
from warnings import catch_warnings, filterwarnings

import cloudpickle
from msgspec import Struct

from batsched_py.campaigns.last_words import ASK, ask_for_last_words, enable_last_words, read_last_words
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits, limit_memory
from batsched_py.errors import OptionError
from batsched_py.interruption import Interruption
from batsched_py.scheduling.base import Scheduler
from batsched_py.signals import STOPS, held_back

Value = TypeVar("Value")

#: Modules that are loaded before each fork: everything that a simulation needs except the algorithm.
_PRELOADED: Final = ["batsched_py.campaigns.study_runner", "batsched_py.api"]
#: Seconds that a process may take to clean up after SIGTERM.
_GRACE: Final = 5.0
#: Exit code of a process that could not send its value.
_UNHEARD: Final = 74
#: Seconds that a process may take to exit after it has closed its pipe.
_MOMENT: Final = 1.0
#: Seconds between attempts to start a process whose server was killed.
_PAUSES: Final = (0.01, 0.1, 1.0)


class PieceResult(Struct, Generic[Value], frozen=True):
    """The result of a piece of work.

    Attributes:
        position: position among the pieces.
        value: the returned value; None if the process died.
        exit_code: exit code of the process: minus the signal that ended it, 0 if all went well.
        failure: reason in one line why there is no value; "" if there is one.
    """

    position: int
    value: Value | None
    exit_code: int = 0
    failure: str = ""


class _Running(Struct, frozen=True):
    """A running piece: its position, its process, the pipe of its last words, and its deadline."""

    position: int
    process: BaseProcess
    words: Connection
    deadline: float


def run_apart(
    pieces: Iterable[Callable[[], Value]], processes: int, limits: RunLimits = NO_LIMITS, preload: Sequence[str] = ()
) -> Generator[PieceResult[Value], None, None]:
    """Call each piece in a process of its own, at most `processes` at a time, and yield results as pieces end.

    Pieces are made when a process is free for them; `preload` names further modules that they need.

    A process that takes longer than the limits allow is killed; the operating system limits its memory.

    Pieces and their values are pickled; a script needs no `if __name__ == "__main__":`. The output of pieces goes to
    stderr. They ignore Ctrl-C and SIGHUP, which the caller handles: the processes end when it stops iterating, also by
    an exception, and when it is killed.
    """
    waiting = enumerate(pieces)
    following = next(waiting, None)
    running: dict[Connection, _Running] = {}
    try:
        while following is not None or running:
            while following is not None and len(running) < processes:
                with held_back():  # a half-started process cannot be stopped
                    _start(*following, running, limits, preload)
                following = next(waiting, None)
            ended: set[object] = set(wait(list(running), _time_left(running.values())))
            for receiver, one in list(running.items()):
                if receiver in ended:
                    result: PieceResult[Value] = _ended(one, receiver)
                elif one.deadline <= time.monotonic():
                    result = _overdue(one, limits)
                else:
                    continue
                with held_back():
                    del running[receiver]
                    receiver.close()
                    one.words.close()
                yield result
    finally:
        with held_back():
            _stop([one.process for one in running.values()])


def _time_left(running: Iterable[_Running]) -> float | None:
    """Return the seconds to the first deadline; None if no piece has one."""
    first = min((one.deadline for one in running), default=math.inf)
    return None if first == math.inf else max(first - time.monotonic(), 0.0)


def _ended(one: _Running, receiver: Connection) -> PieceResult[Any]:
    """Return the result of a piece that has sent its value or closed its pipe."""
    value: Any = _received(receiver)
    process = one.process
    process.join(_GRACE if value is not None else _MOMENT)
    lingers = process.is_alive()
    if lingers:  # threads still run, or it has closed its end of the pipe
        _stop([process], _MOMENT)
    code = process.exitcode or 0
    if value is not None:
        return PieceResult(one.position, value, 0 if lingers else code)
    where = read_last_words(one.words)
    if lingers or code == _UNHEARD:
        return PieceResult(one.position, None, code, f"its process has closed files that it had not opened{where}")
    how = f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
    return PieceResult(one.position, None, code, f"its process ended {how} in the middle of the run{where}")


def _overdue(one: _Running, limits: RunLimits) -> PieceResult[Any]:
    """Stop a piece at its deadline, and return its result with the line that it was executing."""
    where = "" if one.process.pid is None else ask_for_last_words(one.process.pid, one.words)
    _stop([one.process], _MOMENT)
    failure = f"{limits.timed_out},{where}" if where else limits.timed_out
    return PieceResult(one.position, None, one.process.exitcode or 0, failure)


def check_portable(thing: object, name: str) -> None:
    """Register the code of an object's script or notebook for pickling. OptionError if the object cannot be pickled."""
    module = sys.modules.get(getattr(thing, "__module__", ""))
    if module is not None and os.sep in module.__name__:  # loaded from a file: no other process finds it by this name
        cloudpickle.register_pickle_by_value(module)
    try:
        if isinstance(thing, type) and issubclass(thing, Scheduler):
            _resolve_options(thing)
        cloudpickle.dumps(thing)
    except Exception as error:  # a __reduce__ may raise anything
        why = " ".join(f"{type(error).__name__}: {error}".split())
        advice = "processes=None runs it in this one"
        raise OptionError(f"{name}: cannot be handed to another process: {why}; {advice}") from error


def _resolve_options(scheduler: type[Scheduler[Any]]) -> None:
    """Replace annotations that are strings by types: their names cannot be resolved in another process."""
    options = scheduler.options_type
    if options.__module__ == "__main__" or os.sep in options.__module__:
        options.__annotations__ = get_type_hints(options)


@contextmanager
def children_allowed() -> Iterator[None]:
    """Allow this process to have children although it is a daemonic worker: they end when it does."""
    configuration: dict[str, Any] = getattr(current_process(), "_config", {})
    before = configuration.pop("daemon", None)
    try:
        yield
    finally:
        if before is not None:
            configuration["daemon"] = before


def _start_server(preload: Sequence[str]) -> None:
    """Start the fork server, with the signals blocked that a terminal or a batch system sends to all processes.

    Only the process that started the work handles these signals.
    """
    with held_back(), _unannounced():
        get_context("forkserver").set_forkserver_preload([*_PRELOADED, *preload])
        resource_tracker.ensure_running()  # else the server starts it, which unblocks signals
        with _signals_blocked():
            forkserver.ensure_running()


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block the signals that stop programs; processes started meanwhile inherit that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _unannounced() -> Iterator[None]:
    """Suppress Python's warning that its resource tracker was killed and restarted: no tracked resources are used."""
    with catch_warnings():
        filterwarnings("ignore", "resource_tracker: process died", UserWarning)
        yield


@contextmanager
def without_main() -> Iterator[None]:
    """Replace the script or notebook by an empty module, because a new process would run it again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _start(
    position: int,
    piece: Callable[[], Value],
    running: dict[Connection, _Running],
    limits: RunLimits,
    preload: Sequence[str],
) -> None:
    context = get_context("forkserver")
    receiver, sender = context.Pipe(duplex=False)
    words, words_sender = context.Pipe(duplex=False)
    pickled = cloudpickle.dumps(piece)
    for pause in (*_PAUSES, None):
        process = context.Process(target=_work, args=(pickled, sender, words_sender, limits.memory))
        deadline = math.inf if limits.timeout is None else time.monotonic() + limits.timeout
        running[receiver] = _Running(position, process, words, deadline)
        try:
            _start_server(preload)
            with without_main(), _unannounced(), _signals_blocked():  # it starts the server again if that has died
                process.start()
            break
        except (EOFError, ConnectionError):  # the server was killed at this moment
            if pause is None:
                raise
            time.sleep(pause)  # until the system has reaped it
    sender.close()
    words_sender.close()


def _received(receiver: Connection) -> Value | None:
    """Return the value of a piece; None if its process died before it sent one."""
    try:
        value: Value = receiver.recv()
    except (EOFError, OSError, pickle.UnpicklingError):  # it died, even in the middle of sending
        return None
    return value


def _work(pickled: bytes, sender: Connection, words_sender: Connection, memory: int | None) -> None:
    """Run a piece in its process and send its value; `words_sender` receives its last words."""
    termination = _Termination()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, termination)
    signal.pthread_sigmask(signal.SIG_BLOCK, [ASK])  # it is for the main thread
    threading.Thread(target=_follow_the_parent, daemon=True).start()
    enable_last_words(words_sender)
    try:
        termination.unwinds = True
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, ASK])  # one may have come while it started
        try:
            heard = _value_sent(pickled, sender, memory)
        finally:
            termination.unwinds = False
    except Interruption as interruption:
        sys.exit(interruption.exit_code)
    if not heard:
        sys.exit(_UNHEARD)


def _value_sent(pickled: bytes, sender: Connection, memory: int | None) -> bool:
    """Run a piece and send its value; False if the caller has gone, or the piece has closed the pipe."""
    if memory is not None:
        limit_memory(memory)
    sys.stdout.flush()
    os.dup2(2, 1)
    value = pickle.loads(pickled)()  # noqa: S301  # from our parent
    try:
        sender.send(value)
    except OSError:
        return False
    return True


def _follow_the_parent() -> None:
    """End this process after its parent; runs in a thread, where all stopping signals are blocked."""
    parent = parent_process()
    assert parent is not None  # noqa: S101  # multiprocessing started this process
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    os._exit(1)


class _Termination:
    """Handler of SIGTERM: unwinds the work, so that no incomplete file is left, or ends the process if there is none.

    It unwinds once: an exception raised by a second signal, or while Python exits, would not be caught.

    Attributes:
        unwinds: True while there is work to interrupt.
    """

    def __init__(self) -> None:
        self.unwinds = False
        self._came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise Interruption, or end the process."""
        del frame
        if not self.unwinds:
            os._exit(128 + number)
        if not self._came:
            self._came = True
            raise Interruption(number)


def _stop(processes: Sequence[BaseProcess], grace: float = _GRACE) -> None:
    started = [process for process in processes if process.pid is not None]
    for process in started:
        process.terminate()
    for process in started:
        process.join(grace)
        if process.is_alive():
            process.kill()
            process.join()
