"""Refusal of what a call would not read, or could read in two ways: parameters of addresses, and bodies."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from batsched_py.errors import WorkloadError
from batsched_py.reading.json_document import refuse_doubled
from batsched_py.site.api.bodies import TYPES
from batsched_py.site.api.problems import Problem, RequestRefusedError, refuse

#: The parameter of a handler with its body.
_BODY: Final = "data"


def has_body(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Return whether a request has a body."""
    headers = connection.headers
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def check_query(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Raise RequestRefusedError for parameters in the address that the handler does not read, or that come twice."""
    text = connection.scope.get("query_string", b"").decode("latin-1")
    if not text:
        return
    known = handler.parsed_fn_signature.parameters.keys() - connection.path_params.keys() - {_BODY, "request"}
    seen, problems = set[str](), list[Problem]()
    for name, _ in parse_qsl(text, keep_blank_values=True):  # in their order, which the framework loses
        if name not in known:
            problems.append(Problem(name, "is no parameter of this call"))
        elif name in seen:
            problems.append(Problem(name, "must be given once"))
        seen.add(name)
    if problems:
        raise RequestRefusedError(422, problems)


async def check_body(request: Request[Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Raise RequestRefusedError for a body with a member twice, and for one that the handler does not read.

    An empty object is accepted everywhere. Descriptors are checked by their own readers.
    """
    if TYPES in handler.opt or not has_body(request):
        return
    content = await request.body()
    if _BODY not in handler.parsed_fn_signature.parameters:
        _check_empty(content)
    elif content.count(b":") > 1:
        try:
            refuse_doubled("", content)
        except WorkloadError as error:
            raise refuse(422, error.rule, error.field) from None


def _check_empty(content: bytes) -> None:
    try:
        value = msgspec.json.decode(content) if content.strip() else {}
    except msgspec.DecodeError:
        raise refuse(400, "the body must be JSON") from None
    if not isinstance(value, dict):
        raise refuse(422, "the body must be empty, or {}")
    if value:
        rule = "is no member: this call has no body, or {}"
        raise RequestRefusedError(422, [Problem(name, rule) for name in value])
