"""Error answers: a status, and a list of paths and messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct

from batsched_py.errors import SiteError
from batsched_py.text.display import displayed, displayed_line

#: The name in the state of a request under which the first problem of its answer is kept.
PROBLEM: Final = "problem"
#: The largest number of problems in one answer.
_MOST: Final = 20


class Problem(Struct, frozen=True):
    """An error in a request.

    Attributes:
        path: the member with the error; "" for the whole request.
        message: the rule that it violates.
    """

    path: str
    message: str


class Problems(Struct, frozen=True):
    """The body of an error response.

    Attributes:
        problems: at least one and at most 20.
    """

    problems: list[Problem]


#: Statuses of error answers, for the description of the API.
REFUSALS: Final = {
    400: "The request cannot be read.",
    401: "The token is missing or invalid.",
    403: "The resource belongs to another user, or the caller lacks the permission.",
    404: "There is no such resource.",
    405: "The resource does not support this method.",
    409: "The state of the resource, or the algorithm of the site, does not allow it.",
    413: "The body is too large.",
    415: "The type of the body is not supported.",
    422: "Members of the body or parameters are invalid.",
    429: "The caller sends too many requests.",
    503: "The site is starting, closed, or has ended.",
}

#: The answer to a change that takes effect later, for the description of the API.
UNDECIDED: Final = {
    202: ResponseSpec(
        data_container=None,
        description="The change was accepted, and not decided within 2 seconds: if impossible then, it is ignored.",
    )
}


def refusals() -> dict[int, ResponseSpec]:
    """Return the specifications of error answers for the description, by status."""
    return {
        status: ResponseSpec(Problems, generate_examples=False, description=text) for status, text in REFUSALS.items()
    }


class RequestRefusedError(Exception):
    """A request is refused, with an HTTP status and a list of problems."""

    def __init__(self, status: int, problems: Sequence[Problem], headers: dict[str, str] | None = None) -> None:
        self.status, self.problems, self.headers = status, list(problems)[:_MOST], headers or {}
        super().__init__("; ".join(f"{one.path}: {one.message}" for one in self.problems))


def refuse(status: int, message: str, path: str = "", **headers: str) -> RequestRefusedError:
    """Return the error for one problem."""
    return RequestRefusedError(status, [Problem(path, message)], headers)


def answer_refusal(request: Request[Any, Any, Any], error: RequestRefusedError) -> Response[Problems]:
    """Return the answer to a refused request."""
    return _answer(request, error.status, error.problems, error.headers)


def answer_closed(request: Request[Any, Any, Any], error: SiteError) -> Response[Problems]:
    """Return the answer to a request that the site cannot accept any more, without advice to try again."""
    return _answer(request, 503, [Problem("", str(error))], {})


def answer_too_deep(request: Request[Any, Any, Any], __: RecursionError) -> Response[Problems]:
    """Return the answer to a body that is nested too deeply."""
    return _answer(request, 400, [Problem("", "the body is nested too deeply")], {})


def answer_no_text(request: Request[Any, Any, Any], __: UnicodeDecodeError) -> Response[Problems]:
    """Return the answer to a body that is not UTF-8."""
    return _answer(request, 400, [Problem("", "the body must be UTF-8")], {})


def answer_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problems]:
    """Return the answer to a request refused by the framework: unknown path or method, malformed or invalid body."""
    extra = error.extra if isinstance(error.extra, list) else []
    shape = [Problem(str(one.get("key", "")), _message(str(one["message"]))) for one in extra if "message" in one]
    status = 422 if shape and error.status_code == 400 else error.status_code
    headers = {str(name): str(value) for name, value in (error.headers or {}).items()}
    return _answer(request, status, shape[:_MOST] or [Problem("", error.detail)], headers)


def _message(text: str) -> str:
    """Return a message of the framework, with a clear one for a missing body."""
    return "is missing: the request must have a body" if text == "'data'" else text


def _answer(
    request: Request[Any, Any, Any], status: int, problems: list[Problem], headers: dict[str, str]
) -> Response[Problems]:
    shown = [Problem(displayed(one.path), displayed_line(one.message)) for one in problems]
    if shown:
        request.state[PROBLEM] = f"{shown[0].path}: {shown[0].message}" if shown[0].path else shown[0].message
    return Response(Problems(shown), status_code=status, media_type=MediaType.JSON, headers=headers)
