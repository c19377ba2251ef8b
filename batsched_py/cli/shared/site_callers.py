"""Options for the callers of a live site: their tokens, their rate, and their quotas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from batsched_py.cli.shared.parameters import PATH, Number, option, together
from batsched_py.errors import OptionError

#: Minimum length of a token.
_SHORTEST_TOKEN: Final = 16
#: The environment variable with the token, if no file is given.
TOKEN_VARIABLE: Final = "BATSCHED_PY_TOKEN"  # noqa: S105  (the name of the variable)


class CallerOptions(Struct, frozen=True):
    """Token, request rate and quotas of the callers of a site.

    Attributes:
        token_file: file with the token; None for that of the environment, if any.
        users: file of users with tokens of their own, which replace the one token; None for none.
        rate: requests per second of each user.
        request_timeout: seconds that the headers, and the body, of a request may take to arrive.
    """

    token_file: Path | None = None
    users: Path | None = None
    rate: float = 100.0
    request_timeout: float = 20.0
    quota_leases: int = 20_000
    quota_experiments: int = 2_000
    quota_megabytes: float = 256.0


_DEFAULTS: Final = CallerOptions()
#: Users and quotas under the names of CallerOptions.
quota_options = together(
    option(
        "--users",
        "FILE",
        "Site: file of users, each with a token; 'batsched-py site users' changes it.",
        type=PATH,
    ),
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
    """Return the token in a file, or without a file that of the environment; "" if there is none. OptionError."""
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
