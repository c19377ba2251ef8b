"""The web page of a site: its files, and security headers."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Final

from litestar import Response, get
from litestar.params import PathParameter

from batsched_py.site.api.problems import refuse

#: File of the page -> its media type.
_TYPES: Final = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "site.js": "text/javascript; charset=utf-8",
    "schedule.js": "text/javascript; charset=utf-8",
    "chart.js": "text/javascript; charset=utf-8",
    "leases.js": "text/javascript; charset=utf-8",
    "notices.js": "text/javascript; charset=utf-8",
    "operators.js": "text/javascript; charset=utf-8",
    "reservations.js": "text/javascript; charset=utf-8",
    "tables.js": "text/javascript; charset=utf-8",
    "experiments.js": "text/javascript; charset=utf-8",
    "timelines.js": "text/javascript; charset=utf-8",
    "what_if.js": "text/javascript; charset=utf-8",
}
#: Headers of all answers: the page loads and runs nothing from other origins, and cannot be framed by other pages.
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
Name = Annotated[str, PathParameter(description="A file of the page.")]


@get("/", include_in_schema=False)
async def page() -> Response[bytes]:
    """Return the page."""
    return Response(_content("index.html"), media_type="text/html; charset=utf-8")


@get("/page/{name:str}", include_in_schema=False)
async def part(name: Name) -> Response[bytes]:
    """Return a file that the page asks for."""
    if name not in _TYPES:
        raise refuse(404, "there is no such file")
    return Response(_content(name), media_type=_TYPES[name])


def _content(name: str) -> bytes:
    return (files("batsched_py.site") / "page" / name).read_bytes()
