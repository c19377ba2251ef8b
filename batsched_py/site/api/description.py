"""The OpenAPI description, completed with headers, tokens, bodies and bounds, which the framework does not know."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from litestar import Request
from litestar.openapi.plugins import JsonRenderPlugin

from batsched_py.experiments.resource_manager import RESERVATIONS
from batsched_py.reading.limits import LONGEST
from batsched_py.site.api.bodies import JSON, XML
from batsched_py.site.api.experiment_xml import PATH
from batsched_py.site.api.identity import GROUP_HEADER, OPERATOR_HEADER, USER_HEADER
from batsched_py.site.api.members import describe_bodies
from batsched_py.site.api.paging import LINK
from batsched_py.site.users import LONGEST_NAME

#: The call without authentication, and the statuses of its answers.
_HEALTH: Final = "/healthz"
_HEALTH_STATUSES: Final = ("200", "503")
#: Paged lists.
_IN_PARTS: Final = ("/api/leases", "/api/queue", "/api/hosts", RESERVATIONS, PATH)
_METHODS: Final = ("get", "put", "post", "delete")
_NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
#: Bounds of numbers in bodies of requests, by body and member.
_LASTS: Final = {"exclusiveMinimum": 0, "maximum": LONGEST}
_AT: Final = {"minimum": 0, "maximum": LONGEST}
_BOUNDS: Final = {
    ("LeaseRequest", "duration"): _LASTS,
    ("LeaseRequest", "start"): _AT,
    ("LeaseRequest", "deadline"): _AT,
    ("JobRequest", "walltime"): _LASTS,
    ("JobRequest", "duration"): _LASTS,
    ("ClockChange", "pace"): {"exclusiveMinimum": 0, "maximum": 86400 * 365},
}


class Description(JsonRenderPlugin):
    """The plugin that renders the completed description."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the description in JSON."""
        return super().render(request, completed(openapi_schema))


def completed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the framework's description, completed."""
    found = deepcopy(schema)
    components = found["components"]
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{}, {"token": []}]
    for path, operation in _operations(found):
        if path != _HEALTH:
            operation["parameters"] = [*operation.get("parameters", []), *_headers(path)]
    health = found["paths"][_HEALTH]["get"]
    health["security"] = []
    health["responses"] = {status: health["responses"][status] for status in _HEALTH_STATUSES}
    health["responses"]["503"]["content"] = health["responses"]["200"]["content"]
    _describe_experiments(found["paths"])
    for _, call in _operations(found):
        call["responses"].get("204", {}).pop("content", None)
    for path in _IN_PARTS:
        text = 'The address of the next part of the list, with rel="next"; absent from the last part.'
        answer = found["paths"][path]["get"]["responses"]["200"]
        answer["headers"] = {LINK: {"description": text, "schema": {"type": "string"}}}
    describe_bodies(components["schemas"])
    for name, body in components["schemas"].items():
        body["additionalProperties"] = False
        for member, kind in body["properties"].items():
            for one in (kind, *kind.get("oneOf", ())):
                if one.get("type") == "number":
                    one.update(_BOUNDS.get((name, member), {}))
                elif one.get("type") == "string" and (name, member) == ("ClockChange", "pace"):
                    one["enum"] = ["max"]
    return found


def _operations(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in found["paths"].items():
        yield from ((path, methods[method]) for method in _METHODS if method in methods)


def _headers(path: str) -> list[dict[str, Any]]:
    """Return the headers of a call in which a trusted caller names the user and the group of the request."""
    found = [
        {
            "name": USER_HEADER,
            "description": "The user of the request; without it, and without tokens of users, the operator asks.",
        },
        {"name": GROUP_HEADER, "description": "The group of the user."},
    ]
    parameters = [{**one, "in": "header", "required": False, "schema": _NAME} for one in found]
    parameters[1]["schema"] = {**_NAME, "minLength": 0}  # no group
    if path.startswith(PATH):
        text = "The operator asks, who names no user."
        schema = {"type": "string", "enum": ["true"]}
        parameters.append(
            {"name": OPERATOR_HEADER, "description": text, "in": "header", "required": False, "schema": schema}
        )
    return parameters


def _describe_experiments(paths: dict[str, Any]) -> None:
    """Add both media types of descriptors and of answers: JSON and XML."""
    one, many = {"type": "object"}, {"type": "array", "items": {"type": "object"}}
    for path in (PATH, RESERVATIONS):
        paths[path]["post"]["requestBody"] = {
            "required": True,
            "description": "A descriptor, in JSON as `batsched-py experiment schema` describes it, or in OVF.",
            "content": {JSON: {"schema": one}, XML: {"schema": {"type": "string"}}},
        }
    for path, status, content in (
        (PATH, "201", one),
        (PATH, "200", one),
        (f"{PATH}/{{number}}", "200", one),
        (f"{PATH}/{{number}}/log", "200", many),
    ):
        method = "post" if status == "201" else "get"
        paths[path][method]["responses"][status]["content"][JSON] = {"schema": content}
