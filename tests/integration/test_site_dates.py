"""Dates at a site: local time unless they have an offset, and answers that say which instant is meant."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from batsched_py.errors import SiteError
from tests.integration.test_site import wait_for
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

#: Time zones without daylight saving time, by their offsets in hours; POSIX counts the other way round.
SITE_ZONE, SITE_HOURS = "XXX-3", 3
USER_ZONE, USER_HOURS = "YYY+5", -5


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site three hours east of Greenwich, whose time stands nearly still."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", SITE_ZONE)
        with running_site(tmp_path_factory.mktemp("site"), "--pace", "0.001", "-s", "leases") as found:
            yield found


def later(site: SiteProcess, hours: float, offset: float) -> datetime:
    """Return an instant so long after the beginning of the site, as a clock elsewhere shows it, in seconds."""
    begun = site.client().get("api", "clock")["begun"]
    zone = timezone(timedelta(hours=offset))
    return datetime.fromtimestamp(begun, UTC).astimezone(zone).replace(microsecond=0) + timedelta(hours=hours)


def requested(site: SiteProcess, zone: str, start: str) -> tuple[int, str]:
    """Request a lease as a user in a time zone does; return the exit code, and what is told."""
    command = [sys.executable, "-m", "batsched_py", "lease", "request", "-n", "1", "-d", "60", "-t", start]
    ran = subprocess.run(
        [*command, "--url", site.url], capture_output=True, text=True, env={**os.environ, "TZ": zone}, check=False
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_a_date_without_an_offset_is_that_of_the_site(site: SiteProcess) -> None:
    """The answer has it with the offset of the site."""
    start = later(site, 8, SITE_HOURS)
    lease = site.client().post(
        "api", "leases", body={"nodes": 1, "duration": 60, "start": f"{start:%Y-%m-%d %H:%M:%S}"}
    )
    assert lease["requested_date"] == start.isoformat()
    assert lease["requested_start"] == pytest.approx(8 * 3600, abs=1)


def test_a_date_with_an_offset_is_that_instant(site: SiteProcess) -> None:
    """Any offset counts; the answer has that of the site."""
    start = later(site, 9, 11)
    lease = site.client().post("api", "leases", body={"nodes": 1, "duration": 60, "start": start.isoformat()})
    assert datetime.fromisoformat(lease["requested_date"]) == start
    assert lease["requested_date"].endswith("+03:00")


def test_the_command_takes_the_time_of_its_user(site: SiteProcess) -> None:
    """It prints the instant that the site has understood."""
    start = later(site, 10, USER_HOURS)
    code, told = requested(site, USER_ZONE, f"{start:%Y-%m-%d %H:%M:%S}")
    assert code == 0
    found = re.search(r"^Start: (.*)$", told, re.MULTILINE)
    assert found is not None
    assert found[1] == start.astimezone(timezone(timedelta(hours=SITE_HOURS))).isoformat()


def test_errors_about_dates_name_dates(site: SiteProcess) -> None:
    """Seconds would be of no use to a user who gave a date."""
    past = later(site, -30, SITE_HOURS)
    code, told = requested(site, SITE_ZONE, f"{past:%Y-%m-%dT%H:%M:%S}")
    assert code == 2
    assert f"start: {past.isoformat()} is before the start of the site, " in told
    soon = later(site, 0.01, SITE_HOURS)
    body = {"nodes": 1, "duration": 6000, "deadline": soon.isoformat()}
    with pytest.raises(SiteError, match=r"deadline: must leave time for the duration: be at least \d{4}-.*\+03:00"):
        site.client().post("api", "leases", body=body)
    assert requested(site, SITE_ZONE, "2030-99-01T00:00:00")[0] == 2


def test_a_date_that_has_passed_is_named_as_a_date(tmp_path: Path) -> None:
    """Now, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", SITE_ZONE)
        with running_site(tmp_path, "--pace", "max", "-s", "leases") as site:
            client = site.client()
            client.post("api", "leases", body={"nodes": 1, "duration": 90_000})
            wait_for(lambda: client.get("api", "clock")["now"] >= 90_000)
            start = later(site, 24, SITE_HOURS)
            with pytest.raises(
                SiteError, match=re.escape(f"must not be before now, {later(site, 25, SITE_HOURS):%Y-%m-%d}")
            ):
                client.post("api", "leases", body={"nodes": 1, "duration": 60, "start": start.isoformat()})
