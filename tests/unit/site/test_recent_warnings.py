"""Warnings of a site, up to a number in a minute."""

from __future__ import annotations

from batsched_py.site.recent_warnings import RecentWarnings


def test_of_many_warnings_in_a_minute_the_number_of_the_others_is_shown() -> None:
    """It is shown with the first warning of a later minute, or in the end."""
    shown, now = list[str](), [0.0]
    warnings = RecentWarnings(shown.append, lambda: now[0])
    for number in range(23):
        warnings(str(number))
    assert shown == [str(number) for number in range(20)]
    now[0] = 60.0
    warnings("later")
    assert shown[20:] == ["3 more warnings within a minute not shown", "later"]
    for number in range(20):
        warnings(str(number))
    warnings.finish()
    assert shown[-1] == "1 more warning within a minute not shown"
