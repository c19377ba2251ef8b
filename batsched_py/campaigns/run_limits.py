"""The limits of a run: how long it may take, and how much memory its process may have."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from batsched_py.reporting.schedules.time_text import parse_span
from batsched_py.text.display import shown

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

#: Unit of a size -> its bytes.
_UNITS: Final = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BINARY: Final = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE: Final = re.compile(rf"(\d{{1,15}}(?:\.\d{{0,9}})?)\s*({'|'.join((*_UNITS, *_BINARY))})", re.ASCII)
_SIZE_RULE: Final = "must be bytes, or a size like 500MB or 2GB"
_SPAN_RULE: Final = "must be seconds, or a time like 90s, 10m or 2h"
#: Bytes that any interpreter needs: a smaller limit probably lacks its unit.
_LEAST: Final = 10**7
#: The file in which Linux reports the memory of this process, in kB.
_STATUS: Final = Path("/proc/self/status")


class RunLimits(Struct, frozen=True):
    """The limits of each run; a run that needs more has failed.

    Attributes:
        timeout: seconds of the wall clock; None for no limit.
        memory: bytes of the run's process, the program's own included; None for no limit.
    """

    timeout: float | None = None
    memory: int | None = None

    @property
    def limited(self) -> bool:
        """True if there is a limit."""
        return self.timeout is not None or self.memory is not None

    @property
    def timed_out(self) -> str:
        """The reason for the failure of a run that took too long."""
        return f"timeout: more than {self.timeout:g} s"

    @property
    def too_large(self) -> str:
        """The reason for the failure of a run that needed too much memory."""
        return f"memory: more than {size_text(self.memory or 0)}"


NO_LIMITS: Final = RunLimits()


def parse_timeout(text: str) -> float:
    """Return the seconds of a limit of time, more than 0; ValueError names the rule."""
    seconds = parse_span(re.sub(r"(?<=\d)\s*m$", "min", text.strip()), _SPAN_RULE)
    if seconds <= 0:
        raise ValueError(f"must be greater than 0 s, not {shown(text)}")
    return seconds


def parse_memory(text: str) -> int:
    """Return the bytes of a limit of memory, at least 10 MB; ValueError names the rule."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{_SIZE_RULE}, not {shown(text)}")
    size = int(float(found[1]) * (_UNITS | _BINARY)[found[2]])
    if size < _LEAST:
        raise ValueError(f"must be at least {size_text(_LEAST)}, which any run needs, not {shown(text)}")
    return size


def size_text(size: int) -> str:
    """Return a number of bytes as text: 2 GB, 1.5 MB, 300 B."""
    unit = next((name for name in ("TB", "GB", "MB", "kB") if size >= _UNITS[name]), "B")
    return f"{size / _UNITS[unit]:.4g} {unit}"


def limit_memory(size: int) -> None:
    """Limit the memory of this process to `size` bytes, including what it already uses: more is a MemoryError.

    The limit applies to data (RLIMIT_DATA) and not to addresses, many of which NumPy and Arrow reserve without using
    them. On systems that do not report the memory of a process, it applies to addresses (RLIMIT_AS).
    """
    if resource is None:
        return
    kind, most = resource.RLIMIT_AS, size
    with suppress(OSError, KeyError, ValueError):
        status = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
        data, resident = (int(status[name].split()[0]) * 1024 for name in ("VmData", "RssAnon"))
        kind, most = resource.RLIMIT_DATA, max(data + size - resident, 0)
    _, hard = resource.getrlimit(kind)
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def is_memory_error(error: BaseException | None) -> bool:
    """Return True for a MemoryError, and for an error that was caused by one."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False
