"""Regular expressions of `match`, run in linear time: queries come from anybody."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from batsched_py.errors import ExtraError

#: Bytes that a regular expression may take once it is compiled.
_MEMORY: Final = 1 << 20
#: Which argument of `match` is the regular expression; the other one is searched (L10).
PATTERN: Final = 0


class PatternError(ValueError):
    """A text is no regular expression."""


@lru_cache(maxsize=256)
def find_pattern(pattern: str) -> Any:
    """Return a compiled regular expression with `search`; PatternError if it is none."""
    library, options = _library()
    try:
        return library.compile(pattern, options)
    except (library.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise PatternError(str(reason)) from None


def matches(pattern: str, text: str) -> bool:
    """Return whether a regular expression is found in a text, at any place; PatternError if it is none."""
    return find_pattern(pattern).search(text) is not None


def check_library() -> None:
    """Check that patterns can be found. ExtraError."""
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
