"""Paged lists: the answer contains the address of the next part, unless it is the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from litestar import Response

from batsched_py.site.api.identity import Asking

#: The header with the address of the next part (RFC 8288, relation type "next").
LINK: Final = "Link"

T = TypeVar("T")


def part(request: Asking, found: list[T], limit: int, following: Callable[[T], Mapping[str, int]]) -> Response[list[T]]:
    """Return the answer of a list: at most `limit` items, and a link to the next part if there are more.

    Args:
        request: the request; its parameters are repeated in the link unless `following` sets them.
        found: at most limit + 1 items; the last one shows that there are more.
        limit: the size of a part.
        following: returns the parameters of the next part, given the last item of this one.
    """
    shown = found[:limit]
    headers = next_part(request, following(shown[-1])) if len(found) > limit else {}
    return Response(shown, headers=headers)


def next_part(request: Asking, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the header with the address of the next part."""
    asked = {name: value for name, value in request.query_params.items() if name not in parameters}
    return {LINK: f'<{request.url.path}?{urlencode({**asked, **parameters})}>; rel="next"'}
