"""Lists of which a part is answered: the answer says where the next part is, so that nobody takes it for the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from litestar import Response

from batsched_py.site.api.parts import Asking

#: The header of RFC 8288 that has the address of the next part, with the relation type "next".
LINK: Final = "Link"

T = TypeVar("T")


def part(request: Asking, found: list[T], limit: int, following: Callable[[T], Mapping[str, int]]) -> Response[list[T]]:
    """Return the answer of a list: at most `limit` items of what was found, which is one more if there are more.

    Args:
        request: the question; other parameters than those of the next part stay as they were asked.
        found: at most limit + 1 items.
        limit: items of a part.
        following: makes parameters of the next part out of the last item of this one.
    """
    shown = found[:limit]
    headers = next_part(request, following(shown[-1])) if len(found) > limit else {}
    return Response(shown, headers=headers)


def next_part(request: Asking, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the header that leads to the next part."""
    asked = {name: value for name, value in request.query_params.items() if name not in parameters}
    return {LINK: f'<{request.url.path}?{urlencode({**asked, **parameters})}>; rel="next"'}
