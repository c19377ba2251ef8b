"""Limits of runs as people write them."""

from __future__ import annotations

import pytest

from batsched_py.campaigns.run_limits import RunLimits, is_memory_error, parse_memory, parse_timeout, size_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("10 m", 600),
        ("10min", 600),
        ("1.5h", 5400),
        ("2d", 172800),
        ("0.5", 0.5),
    ],
)
def test_a_timeout_is_read(text: str, seconds: float) -> None:
    """In the units of other times, and m for minutes."""
    assert parse_timeout(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "ten", "10M", "1e3", "10ms", "inf", "nan", "9" * 30])
def test_what_is_no_timeout_is_refused(text: str) -> None:
    """With what it must be."""
    with pytest.raises(ValueError, match=r"^must be .*, not "):
        parse_timeout(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10000000", 10**7),
        ("2GB", 2 * 10**9),
        ("10.5 MB", 10500000),
        ("1GiB", 2**30),
        ("30000kB", 3 * 10**7),
        ("1TB", 10**12),
    ],
)
def test_a_size_is_read(text: str, size: int) -> None:
    """In units of a thousand, or of 1024 if they say so."""
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1GB", "GB", "1PB", "2G", "0.1B", "1e9", "9" * 20, "500", "9.9MB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    """With what it must be."""
    with pytest.raises(ValueError, match=r"^must be .*, not "):
        parse_memory(text)


def test_limits_tell_themselves() -> None:
    """In the reasons of runs that fail by them."""
    limits = RunLimits(600, 1_500_000_000)
    assert (limits.timed_out, limits.too_large) == ("timeout: more than 600 s", "memory: more than 1.5 GB")
    assert [size_text(size) for size in (12, 2_000, 10**12)] == ["12 B", "2 kB", "1 TB"]
    assert (limits.limited, RunLimits().limited, RunLimits(memory=1).limited) == (True, False, True)


def test_an_error_that_was_made_of_a_lack_of_memory_is_one() -> None:
    """It is one after any number of conversions."""
    made = ValueError()
    made.__cause__ = KeyError()
    made.__cause__.__context__ = MemoryError()
    assert is_memory_error(made)
    assert not is_memory_error(ValueError())
