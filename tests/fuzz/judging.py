"""Tell what may come out of wrong input: nothing, or one clear line. Anything else is a finding."""

from __future__ import annotations

import io
import json
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

from batsched_py.cli.main import run
from batsched_py.errors import AlgorithmError, BatschedError, LocalProtocolError
from batsched_py.text.display import MOST_IN_LINE, escaped

#: Characters of a line, with what stands before it.
LONGEST = MOST_IN_LINE + 100
#: Seconds of CPU that an input may cost: inputs are smaller than 100 kB, and most take less than a tenth of one.
SECONDS = 20
#: Memory that an input may cost, in bytes.
MEMORY = 1 << 30


class FindingError(AssertionError):
    """Something else than one clear line."""


class TooLongError(BaseException):
    """An input costs more than SECONDS of CPU; no `except Exception` hides it."""


@contextmanager
def limited() -> Iterator[None]:
    """Within these limits of CPU and memory. They hold for the whole process, which must be at the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLongError(f"more than {SECONDS} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def limit_memory() -> None:
    """Let this process have MEMORY more than it has now; what asks for more gets a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def judged(attempt: Callable[[], object]) -> BatschedError | None:
    """The error of ours that comes out, or None; FindingError if it is not one clear line, or the algorithm's fault."""
    try:
        attempt()
    except BatschedError as error:
        cause = error.__cause__
        if isinstance(error, LocalProtocolError):
            raise FindingError(f"we were about to say what the peer refuses: {error}") from error
        if isinstance(error, AlgorithmError) and not isinstance(cause, BatschedError | None):
            raise FindingError(f"wrong input is told as the algorithm's fault: {error}") from error
        check_lines(str(error).splitlines())
        return error
    return None


def check_lines(lines: Sequence[str]) -> None:
    """FindingError if one of them cannot be shown on a terminal."""
    for line in lines:
        if escaped(line) != line:  # blanks of all widths are shown
            raise FindingError(f"what is told cannot be shown: {line!r}")
        if len(line) > LONGEST:
            raise FindingError(f"what is told has {len(line)} characters: {line[:200]}")


def told(folder: Path, *arguments: str) -> int:
    """Run a command there; its exit code. FindingError if it crashes, blames an algorithm, or tells no clear line."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(stdout), redirect_stderr(stderr):
        code = run(arguments)
    said = stderr.getvalue()
    for words in ("internal error", "Traceback", " failed on "):
        if words in said:
            raise FindingError(f"{' '.join(arguments)}: {said[-2000:]}")
    errors = [line for line in said.splitlines() if line.startswith("batsched-py: error: ")]
    if len(errors) != (0 if code in (0, 1) else 1):
        raise FindingError(f"{' '.join(arguments)}: exit code {code}, {len(errors)} errors: {said[-2000:]!r}")
    check_lines(said.splitlines())
    return code


def is_a_message(reply: bytes) -> None:
    """FindingError if it is no JSON object."""
    if not isinstance(json.loads(reply), dict):
        raise FindingError(f"the reply is no message: {reply[:200]!r}")
