"""The description of the API: a program made from it can hand in an experiment, name its user and send the token."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("litestar")

from tests.docs.site_api import schema

METHODS = ("get", "put", "post", "delete")


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The description."""
    return schema()


def test_each_call_takes_the_token_and_the_user(described: dict[str, Any]) -> None:
    """But that which tells whether the site is ready, and nothing else about it."""
    assert described["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    assert described["security"] == [{}, {"token": []}]
    for path, methods in described["paths"].items():
        for method in set(METHODS) & set(methods):
            headers = {one["name"] for one in methods[method].get("parameters", []) if one["in"] == "header"}
            asserted = {"x-bonfire-asserted-id", "x-bonfire-asserted-selected-group"}
            assert headers >= (set() if path == "/healthz" else asserted), path
    health = described["paths"]["/healthz"]["get"]
    assert (health["security"], set(health["responses"])) == ([], {"200", "503"})


def test_experiments_have_both_forms(described: dict[str, Any]) -> None:
    """Descriptors and answers have one each."""
    paths, both = described["paths"], {"application/json", "application/xml"}
    assert set(paths["/managed_experiments"]["post"]["requestBody"]["content"]) == both
    assert set(paths["/managed_experiments"]["post"]["responses"]["201"]["content"]) == both
    for path in ("", "/{number}", "/{number}/log"):
        assert set(paths[f"/managed_experiments{path}"]["get"]["responses"]["200"]["content"]) == both


def test_objects_are_closed_and_numbers_bounded(described: dict[str, Any]) -> None:
    """As the site checks them."""
    bodies = described["components"]["schemas"]
    assert all(body["additionalProperties"] is False for body in bodies.values())
    numbers = [
        one
        for name, member in (("LeaseRequest", "duration"), ("JobRequest", "walltime"), ("ClockChange", "pace"))
        for one in bodies[name]["properties"][member]["oneOf"]
        if one["type"] == "number"
    ]
    assert [one["exclusiveMinimum"] for one in numbers] == [0, 0, 0]
    assert all(one["maximum"] > 0 for one in numbers)


def test_each_body_and_each_member_has_a_meaning(described: dict[str, Any]) -> None:
    """That of the docstring of its class."""
    bodies = described["components"]["schemas"]
    assert [name for name, body in bodies.items() if not body["description"]] == []
    members = [(name, member, one) for name, body in bodies.items() for member, one in body["properties"].items()]
    assert [(name, member) for name, member, one in members if not one.get("description")] == []
    assert bodies["Lease"]["properties"]["final"]["description"].startswith("whether nothing will happen")
