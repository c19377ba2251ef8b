"""Regular expressions of `match`, run in linear time because queries are untrusted input."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from batsched_py.errors import ExtraError

#: Bytes that a regular expression may take once it is compiled.
_MEMORY: Final = 1 << 20
#: Position of the regular expression among the arguments of `match`; the other argument is searched (L10).
PATTERN: Final = 0


class PatternError(ValueError):
    """A text is not a regular expression."""


@lru_cache(maxsize=256)
def find_pattern(pattern: str) -> Any:
    """Return a compiled regular expression with `search`; PatternError for an invalid one."""
    library, options = _library()
    try:
        return library.compile(pattern, options)
    except (library.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise PatternError(str(reason)) from None


def matches(pattern: str, text: str) -> bool:
    """Return whether a regular expression matches anywhere in a text; PatternError for an invalid one."""
    return find_pattern(pattern).search(text) is not None


def check_library() -> None:
    """Check that the library for regular expressions is installed. ExtraError."""
    _library()


@cache
def _library() -> tuple[Any, Any]:
    try:
        import re2  # noqa: PLC0415  # an extra; only what needs it loads it
    except ImportError:
        raise ExtraError("match(...)", "google-re2", "query") from None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2, options
