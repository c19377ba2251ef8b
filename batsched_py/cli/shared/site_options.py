"""Options of the commands that send requests to a live site."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, connect_timeout_option, option, together
from batsched_py.cli.shared.site_callers import read_token
from batsched_py.cli.shared.terminal import say, warn
from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.reading.limits import Limits
from batsched_py.site.client import DEFAULT_URL, SiteClient
from batsched_py.text.display import displayed, displayed_line
from batsched_py.text.wording import seconds

#: The environment variable with the address of the site.
URL_VARIABLE: Final = "BATSCHED_PY_URL"
#: A date and a time, in contrast to seconds and clock times.
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d[T ].*")


class SitePlace(Struct, frozen=True):
    """The address of the site, and the user of the requests."""

    url: str
    token_file: Path | None
    user: str
    group: str
    connect_timeout: float

    def client(self) -> SiteClient:
        """Return a client of the site. OptionError."""
        token = read_token(self.token_file)
        return SiteClient(self.url, token, self.user, self.group, self.connect_timeout, warn=warn)

    def client_of_list(self) -> SiteClient:
        """Return a client for a command that lists something, after showing the notices of the site. OptionError."""
        client = self.client()
        for notice in client.get("api", "notices"):
            until = "" if notice["until"] is None else f", until {displayed(str(notice['until']))}"
            say(f"notice: {displayed_line(str(notice['text']))} ({displayed(str(notice['by']))}{until})", err=True)
        return client


#: The options under the names of SitePlace.
site_options = together(
    option("--url", "URL", "Address of the site.", default=DEFAULT_URL, envvar=URL_VARIABLE, show_envvar=True),
    option("--token-file", "FILE", "File with the token of the site.", type=PATH),
    option("--user", "NAME", "User of the request.", default=""),
    option("--group", "NAME", "Group of the user.", default=""),
    connect_timeout_option("Time to wait for the site to start."),
)


def with_offset(option: str, text: str) -> str:
    """Add the offset of local time to a date without an offset; return other texts unchanged. UsageError."""
    if not DATE.fullmatch(text):
        return text
    try:
        date = datetime.fromisoformat(text)
        return text if date.tzinfo is not None else date.astimezone().isoformat()
    except (ValueError, OverflowError):
        raise click.UsageError(f"'{option}' must be a date like 2030-11-25T13:00:00, not {text!r}") from None


def post_descriptor(place: SitePlace, resource: str, file: Path, limits: Limits) -> Any:
    """Send the descriptor in a file to a site, and return the answer. WorkloadError; errors as of SiteClient."""
    with reported(file, WorkloadError):
        content = read_file(file, limits)
    kind = "application/xml" if content.lstrip().startswith(b"<") else "application/json"
    return place.client().post_document(resource, content=content, media_type=kind)


def show_leases(leases: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of leases, with their users if there are several; an estimated start begins with ~."""
    several = len({lease["user"] for lease in leases}) > 1
    headings = ["ID", "Type", "State", "Starting time", "Duration", "Nodes", "Planned", "Reason"]
    headings[1:1] = ["User"] if several else []
    table = Table(*headings, box=box.SIMPLE, pad_edge=False)
    for lease in leases:
        start, duration = lease.get("start", lease.get("requested_start")), lease.get("duration")
        cells = (
            lease["number"],
            *((lease["user"],) if several else ()),
            lease.get("type") or "Job",
            f"{lease['state']}, held" if lease.get("held") else lease["state"],
            "Unspecified" if start is None else seconds(start),
            "" if duration is None else seconds(duration),
            lease.get("nodes") or "",
            _expected(lease),
            lease.get("why", ""),
        )
        table.add_row(*(displayed(str(cell)) for cell in cells))
    show_table(table, folded=len(headings) - 1)


def _expected(lease: Mapping[str, Any]) -> str:
    planned, estimated = lease.get("planned_start"), lease.get("estimated_start")
    return seconds(planned) if planned is not None else "" if estimated is None else f"~{seconds(estimated)}"
