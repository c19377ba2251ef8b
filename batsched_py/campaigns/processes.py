"""Work in processes: each piece in a new one, so that no piece sees what another left in its modules.

Processes are forks of a server, which has one thread and has loaded our modules once. Pieces of work are pickled with
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
from collections import deque
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

from batsched_py.campaigns.last_words import ASK, ask_for_last_words, read_last_words, tell_last_words
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits, limit_memory
from batsched_py.errors import OptionError
from batsched_py.interruption import Interruption
from batsched_py.scheduling.base import Scheduler
from batsched_py.signals import STOPS, held_back

Value = TypeVar("Value")

#: Modules that each process finds loaded: all that a simulation needs but for the algorithm.
_PRELOADED: Final = ["batsched_py.campaigns.study_runner", "batsched_py.api"]
#: Seconds that a process which shall stop may take to clean up.
_GRACE: Final = 5.0
#: Exit code of a process whose value nobody can receive.
_UNHEARD: Final = 74
#: Seconds from the last sign of a process that dies to its death.
_MOMENT: Final = 1.0
#: Seconds from one attempt to start a process whose server was killed to the next.
_PAUSES: Final = (0.01, 0.1, 1.0)


class PieceResult(Struct, Generic[Value], frozen=True):
    """The result of a piece of work.

    Attributes:
        position: position among the pieces.
        value: the returned value; None if the process died.
        exit_code: exit code of the process: minus the signal that ended it, 0 if all went well.
        failure: why there is no value, in a line; "" if there is one.
    """

    position: int
    value: Value | None
    exit_code: int = 0
    failure: str = ""


class _Running(Struct, frozen=True):
    """A piece that runs: its position, its process, its last words, and the instant at which its time is over."""

    position: int
    process: BaseProcess
    words: Connection
    deadline: float


def run_apart(
    pieces: Sequence[Callable[[], Value]], processes: int, limits: RunLimits = NO_LIMITS
) -> Generator[PieceResult[Value], None, None]:
    """Call each piece in a process of its own, at most `processes` at a time; what ends first comes first.

    A process that takes longer than the limits allow is killed, whatever it does; its memory is limited by the system.

    Pieces and their values are pickled; a script needs no `if __name__ == "__main__":`. What pieces print goes to
    stderr. They ignore Ctrl-C and SIGHUP, which the caller answers: when it stops iterating, by whatever exception, the
    processes end. They also end if the caller is killed.
    """
    waiting = deque(enumerate(pieces))
    running: dict[Connection, _Running] = {}
    try:
        while waiting or running:
            with held_back():  # a process that is half started is one that nobody can stop
                while waiting and len(running) < processes:
                    _start(*waiting.popleft(), running, limits)
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
    """Return the seconds until the time of a piece is over; None if that of none ever is."""
    first = min((one.deadline for one in running), default=math.inf)
    return None if first == math.inf else max(first - time.monotonic(), 0.0)


def _ended(one: _Running, receiver: Connection) -> PieceResult[Any]:
    """Return the result of a piece that has sent its value, or never will."""
    value: Any = _received(receiver)
    process = one.process
    process.join(_GRACE if value is not None else _MOMENT)
    lingers = process.is_alive()
    if lingers:  # in threads of the work, or it has closed its end
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
    """End a piece whose time is over, and tell what it was doing."""
    where = "" if one.process.pid is None else ask_for_last_words(one.process.pid, one.words)
    _stop([one.process], _MOMENT)
    failure = f"{limits.timed_out},{where}" if where else limits.timed_out
    return PieceResult(one.position, None, one.process.exitcode or 0, failure)


def check_portable(thing: object, name: str) -> None:
    """Prepare the thing for being pickled with the code of its script or notebook. OptionError if it cannot be."""
    module = sys.modules.get(getattr(thing, "__module__", ""))
    if module is not None and os.sep in module.__name__:  # loaded from a file: no other process finds it by this name
        cloudpickle.register_pickle_by_value(module)
    try:
        if isinstance(thing, type) and issubclass(thing, Scheduler):
            _resolve_options(thing)
        cloudpickle.dumps(thing)
    except Exception as error:  # pickle raises whatever a __reduce__ raises
        why = " ".join(f"{type(error).__name__}: {error}".split())
        advice = "processes=None runs it in this one"
        raise OptionError(f"{name}: cannot be handed to another process: {why}; {advice}") from error


def _resolve_options(scheduler: type[Scheduler[Any]]) -> None:
    """Replace annotations that are text by types: names in them mean nothing without the script or the notebook."""
    options = scheduler.options_type
    if options.__module__ == "__main__" or os.sep in options.__module__:
        options.__annotations__ = get_type_hints(options)


@contextmanager
def children_allowed() -> Iterator[None]:
    """Let this process have children although it is a worker that was started as a daemon: these end when it does."""
    configuration: dict[str, Any] = getattr(current_process(), "_config", {})
    before = configuration.pop("daemon", None)
    try:
        yield
    finally:
        if before is not None:
            configuration["daemon"] = before


def _start_server() -> None:
    """Start the server of processes, with the signals blocked that a terminal or a batch system sends to all.

    Only the process that started the work answers these signals.
    """
    with held_back(), _unannounced():
        get_context("forkserver").set_forkserver_preload(_PRELOADED)
        resource_tracker.ensure_running()  # which the server would start, and which unblocks signals
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
    """Suppress Python's warning that its resource tracker was killed and restarted: we have no such resources."""
    with catch_warnings():
        filterwarnings("ignore", "resource_tracker: process died", UserWarning)
        yield


@contextmanager
def without_main() -> Iterator[None]:
    """Put an empty module in place of the script or notebook, which a new process would run again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _start(position: int, piece: Callable[[], Value], running: dict[Connection, _Running], limits: RunLimits) -> None:
    context = get_context("forkserver")
    receiver, sender = context.Pipe(duplex=False)
    words, teller = context.Pipe(duplex=False)
    pickled = cloudpickle.dumps(piece)
    for pause in (*_PAUSES, None):
        process = context.Process(target=_work, args=(pickled, sender, teller, limits.memory))
        deadline = math.inf if limits.timeout is None else time.monotonic() + limits.timeout
        running[receiver] = _Running(position, process, words, deadline)
        try:
            _start_server()
            with without_main(), _unannounced(), _signals_blocked():  # it starts the server again if that has died
                process.start()
            break
        except (EOFError, ConnectionError):  # somebody killed the server at this moment
            if pause is None:
                raise
            time.sleep(pause)  # until the system has noticed its death
    sender.close()
    teller.close()


def _received(receiver: Connection) -> Value | None:
    """Return the value of a piece; None if its process died before."""
    try:
        value: Value = receiver.recv()
    except (EOFError, OSError, pickle.UnpicklingError):  # it died, even in the middle of sending
        return None
    return value


def _work(pickled: bytes, sender: Connection, teller: Connection, memory: int | None) -> None:
    """Run a piece in its process and send its value; `teller` receives its last words."""
    termination = _Termination()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, termination)
    signal.pthread_sigmask(signal.SIG_BLOCK, [ASK])  # which the main thread answers
    threading.Thread(target=_follow_the_parent, daemon=True).start()
    tell_last_words(teller)
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
    """Run a piece and send its value; False if nobody is there, or the work has closed what was not its own."""
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
    """The answer of a process to SIGTERM: its work unwinds, so that no half of a file stays; otherwise it ends at once.

    It unwinds once: what another signal raised meanwhile, or while Python ends the process, nobody would catch.

    Attributes:
        unwinds: True while there is work that can be interrupted.
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
