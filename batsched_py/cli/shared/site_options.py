"""Options of the commands that ask a live site."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, Number, connect_timeout_option, option, together
from batsched_py.errors import OptionError
from batsched_py.site.client import DEFAULT_URL, SiteClient
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

#: Characters of a token, at least.
_SHORTEST_TOKEN: Final = 16
#: The variable of the environment that says where the site answers.
URL_VARIABLE: Final = "BATSCHED_PY_URL"
#: The variable of the environment that has the token, if no file does.
TOKEN_VARIABLE: Final = "BATSCHED_PY_TOKEN"  # noqa: S105  (the name of the variable)


class SitePlace(Struct, frozen=True):
    """The site that is asked, and for whom."""

    url: str
    token_file: Path | None
    user: str
    group: str
    connect_timeout: float

    def client(self) -> SiteClient:
        """Return a client of the site. OptionError."""
        return SiteClient(self.url, read_token(self.token_file), self.user, self.group, self.connect_timeout)


#: The options under the names of SitePlace.
site_options = together(
    option("--url", "URL", "Address of the site.", default=DEFAULT_URL, envvar=URL_VARIABLE, show_envvar=True),
    option("--token-file", "FILE", "File with the token of the site.", type=PATH),
    option("--user", "NAME", "User of the request.", default=""),
    option("--group", "NAME", "Group of the user.", default=""),
    connect_timeout_option("Time to wait for the site to start."),
)


class QuotaOptions(Struct, frozen=True):
    """The most that one user of a site may have."""

    quota_leases: int = 20_000
    quota_experiments: int = 2_000
    quota_megabytes: float = 256.0


_DEFAULTS: Final = QuotaOptions()
#: The options under the names of QuotaOptions.
quota_options = together(
    option(
        "--quota-leases",
        "N",
        "Site: leases and jobs of one user that have not ended, at most.",
        type=click.IntRange(1),
        default=_DEFAULTS.quota_leases,
    ),
    option(
        "--quota-experiments",
        "N",
        "Site: experiments of one user that were not deleted, at most.",
        type=click.IntRange(1),
        default=_DEFAULTS.quota_experiments,
    ),
    option(
        "--quota-megabytes",
        "MB",
        "Site: size of all requests of one user, at most.",
        type=Number(min=0, min_open=True),
        default=_DEFAULTS.quota_megabytes,
    ),
)


def read_token(path: Path | None) -> str:
    """Return the secret in a file, or without one that of the environment; "" if there is none. OptionError."""
    if path is None and not os.environ.get(TOKEN_VARIABLE):
        return ""
    place = path or TOKEN_VARIABLE
    try:
        token = os.environ[TOKEN_VARIABLE] if path is None else path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise OptionError(f"{place}: a token has at least {_SHORTEST_TOKEN} printable ASCII characters on one line")
    return token


def show_leases(leases: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of leases."""
    table = Table("ID", "Type", "State", "Starting time", "Duration", "Nodes", box=box.SIMPLE, pad_edge=False)
    for lease in leases:
        start, duration = lease.get("start", lease.get("requested_start")), lease.get("duration")
        cells = (
            lease["number"],
            lease.get("type") or "Job",
            lease["state"],
            "Unspecified" if start is None else seconds(start),
            "" if duration is None else seconds(duration),
            lease.get("nodes") or "",
        )
        table.add_row(*(displayed(str(cell)) for cell in cells))
    show_table(table)
