"""Parity: what the API of a site takes, a command takes, and the form of the page as far as it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import click
import pytest

pytest.importorskip("litestar")

from batsched_py.cli.main import batsched
from batsched_py.cli.shared.lease_terms import LeaseTerms
from tests.docs.site_api import schema

#: Resources of timelines.
TIMELINES: Final = ("/api/timelines", "/managed_experiments/{number}/timelines")
#: Call of the API -> the command that makes it.
COMMANDS: Final[Mapping[tuple[str, str], str]] = {
    ("GET", "/api/clock"): "site clock",
    ("PUT", "/api/clock"): "site clock",
    ("POST", "/api/close"): "site close",
    ("GET", "/api/hosts"): "hosts",
    **{("POST", f"/api/hosts/{change}"): f"hosts {change}" for change in ("drain", "fail", "return")},
    ("GET", "/api/audit"): "site audit",
    ("GET", "/api/caller"): "site caller",
    ("GET", "/api/notices"): "site notice list",
    ("POST", "/api/notices"): "site notice add",
    ("DELETE", "/api/notices/{number}"): "site notice remove",
    ("GET", "/api/queue"): "queue",
    ("GET", "/api/leases"): "lease list",
    ("POST", "/api/leases"): "lease request",
    ("GET", "/api/leases/{number}"): "lease show",
    ("DELETE", "/api/leases/{number}"): "lease cancel",
    ("POST", "/api/leases/{number}/hold"): "lease hold",
    ("POST", "/api/leases/{number}/release"): "lease release",
    ("PUT", "/api/leases/{number}/priority"): "lease priority",
    ("POST", "/api/jobs"): "lease job",
    ("POST", "/api/what-if"): "what-if",
    ("GET", "/managed_experiments"): "experiment list",
    ("POST", "/managed_experiments"): "experiment submit",
    ("GET", "/managed_experiments/{number}"): "experiment status",
    ("GET", "/managed_experiments/{number}/log"): "experiment log",
    ("DELETE", "/managed_experiments/{number}"): "experiment delete",
    ("GET", "/reservations"): "reservation list",
    ("POST", "/reservations"): "reservation create",
    ("GET", "/reservations/{number}"): "reservation show",
    ("DELETE", "/reservations/{number}"): "reservation delete",
    **{
        (method, f"{resource}{path}"): f"timeline {command}"
        for resource in TIMELINES
        for method, path, command in (
            ("GET", "", "status"),
            ("GET", "/{vm}/entries", "status"),
            ("POST", "/resume", "resume"),
            ("POST", "/{vm}/entries", "add"),
        )
    },
}
#: Calls without a command, each with the reason.
FOR_PROGRAMS: Final[Mapping[tuple[str, str], str]] = {
    ("GET", "/healthz"): "monitoring",
    ("GET", "/metrics"): "monitoring",
    ("GET", "/api/events"): "a stream, for the page",
    ("GET", "/api/schedule"): "drawn by the page",
    ("GET", "/api/site"): "the title of the page",
    ("GET", "/reservations/{number}/{machine}"): "a part of the reservation",
    ("GET", "/experiments/{number}"): "an address in links",
    ("GET", "/resources/{number}"): "an address in links",
    ("GET", "/api/timelines/entries"): "drawn by the page",
    ("GET", "/managed_experiments/{number}/timelines/entries"): "drawn by the page",
}
#: Member of a body -> the options, or the argument, that set it, where these have another name.
OPTIONS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("LeaseRequest", "capacity"): ("capacity", "cpu", "memory"),
    ("LeaseRequest", "software"): ("image", "image_size"),
    ("LeasePriority", "priority"): ("to",),
    ("WhatIf", "lease"): tuple(LeaseTerms.__struct_fields__),
}
#: Options that are no members of a body, but can be given with it: the site, the user, a file of all members.
SITE: Final = {"url", "token_file", "user", "group", "connect_timeout", "limit", "debug", "help", "help_json", "file"}
#: Form of the page -> the bodies that it sends, its fields that are no members of these, and members that it lacks.
FORMS: Final[Mapping[str, tuple[tuple[str, ...], set[str], set[str]]]] = {
    # the start and the image are two fields
    "ask": (("LeaseRequest",), {"when", "after", "image", "image_size"}, {"software", "start"}),
    "priority": (("LeasePriority",), {"lease"}, set()),
    "what-if": (("WhatIf",), set(), set()),
    "notice": (("NoticeRequest",), set(), set()),
    "hosts": (("HostsChange", "HostsReturn"), {"change"}, set()),
}
#: Change -> the text of the page's scripts that makes it.
ON_THE_PAGE: Final[Mapping[tuple[str, str], str]] = {
    ("PUT", "/api/clock"): 'ask("/api/clock", { method: "PUT"',
    **{("POST", f"/api/hosts/{change}"): f'<option value="{change}">' for change in ("drain", "fail", "return")},
    ("POST", "/api/notices"): 'ask("/api/notices", { method: "POST"',
    ("DELETE", "/api/notices/{number}"): 'ask(`/api/notices/${number}`, { method: "DELETE"',
    ("POST", "/api/leases"): 'ask("/api/leases", { method: "POST"',
    ("DELETE", "/api/leases/{number}"): 'ask(path, { method: "DELETE" })',
    ("POST", "/api/leases/{number}/hold"): "`${path}/hold`",
    ("POST", "/api/leases/{number}/release"): "`${path}/release`",
    ("PUT", "/api/leases/{number}/priority"): '/priority`, { method: "PUT"',
    ("POST", "/api/close"): 'ask("/api/close", { method: "POST"',
    ("POST", "/api/what-if"): 'ask("/api/what-if", { method: "POST"',
    ("POST", "/managed_experiments"): 'ask(PATH, { method: "POST", text',
    ("DELETE", "/managed_experiments/{number}"): 'ask(`${PATH}/${id}`, { method: "DELETE"',
    ("POST", "/reservations"): 'ask(PATH, { method: "POST", body })',
    ("DELETE", "/reservations/{number}"): 'ask(one.href, { method: "DELETE" })',
    **{("POST", f"{one}/resume"): "`${shown.path}/resume`" for one in TIMELINES},
    **{("POST", f"{one}/{{vm}}/entries"): '/entries`, { method: "POST", text' for one in TIMELINES},
}
#: Change that the page lacks -> the reason.
NOT_ON_THE_PAGE: Final[Mapping[tuple[str, str], str]] = {
    ("POST", "/api/jobs"): "its form for leases asks for a lease without terms, which is such a job",
}


#: Parameter of a list -> the option that sets it, where these have another name.
LIST_OPTIONS: Final = {"in_state": "state", "user": "owner", "user_id": "owner", "limit": "first", "finished": "all"}
#: Options of commands that list, apart from those of lists and those of the site.
NOT_OF_LISTS: Final = {"number", "experiment", "vm", "as_json"}
#: `site audit` reads the log of a site from its folder, with other options.
READS_A_FOLDER: Final = "/api/audit"


def command_of(words: str) -> click.Command:
    """The command with these words."""
    found: click.Command = batsched
    for word in words.split():
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None, words
        found = inner
    return found


def test_each_call_has_a_command() -> None:
    """Or a reason why it has none; and each command of the table exists."""
    calls = {(method.upper(), path) for path, methods in schema()["paths"].items() for method in methods}
    assert calls == COMMANDS.keys() | FOR_PROGRAMS.keys()
    assert all(command_of(words) for words in COMMANDS.values())


def test_each_member_of_a_body_has_an_option_and_each_option_a_member() -> None:
    """A member that is added to the API must be added to the command."""
    described = schema()
    compared = 0
    for path, methods in described["paths"].items():
        for method, call in methods.items():
            content = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            name = content.get("$ref", "").rpartition("/")[2]
            if not name:
                continue  # a document as a whole
            compared += 1
            members = described["components"]["schemas"][name]["properties"]
            wanted = {option for member in members for option in OPTIONS.get((name, member), (member,))}
            present = (
                {one.name for one in command_of(COMMANDS[method.upper(), path]).params}
                - SITE
                - {"experiment", "number"}
            )
            assert present == wanted, f"{COMMANDS[method.upper(), path]}: {name}"
    assert compared >= 5


def test_each_parameter_of_a_list_has_an_option_and_each_option_a_parameter() -> None:
    """A filter that is added to the API must be added to the command."""
    compared = 0
    for path, methods in schema()["paths"].items():
        names = {one["name"] for one in methods.get("get", {}).get("parameters", []) if one["in"] == "query"}
        if not names or path == READS_A_FOLDER or ("GET", path) in FOR_PROGRAMS:
            continue
        compared += 1
        command = command_of(COMMANDS["GET", path])
        present = {one.name for one in command.params} - SITE - NOT_OF_LISTS
        assert present == {LIST_OPTIONS.get(name, name) for name in names}, f"{command.name}: {path}"
    assert compared >= 7


def page_text() -> str:
    """The page and its scripts."""
    folder = files("batsched_py.site") / "page"
    return "\n".join(one.read_text() for one in folder.iterdir() if one.name.endswith((".js", ".html")))


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_the_page_has_the_members_of_its_bodies(form: str) -> None:
    """But for those listed here."""
    bodies, others, without = FORMS[form]
    found = re.search(rf'<form id="{form}"[^>]*>.*?</form>', page_text(), re.S)
    assert found is not None
    fields = set(re.findall(r'name="(\w+)"', found[0]))
    schemas = schema()["components"]["schemas"]
    members = {member for body in bodies for member in schemas[body]["properties"]}
    assert fields == (members - without) | others


def test_each_change_is_on_the_page() -> None:
    """By a form or a button; or there is a reason why it is not."""
    text, changes = page_text(), set[tuple[str, str]]()
    for path, methods in schema()["paths"].items():
        changes |= {(method.upper(), path) for method in methods if method != "get"}
    missing = {call for call in changes if call not in ON_THE_PAGE or ON_THE_PAGE[call] not in text}
    assert missing == NOT_ON_THE_PAGE.keys()
    assert ON_THE_PAGE.keys() | NOT_ON_THE_PAGE.keys() == changes


def test_states_of_filters_are_those_of_the_lists() -> None:
    """A state that the page does not offer could not be chosen, and another one would be refused."""
    page = (files("batsched_py.site") / "page" / "index.html").read_text()
    for name, path in (
        ("leases", "/api/leases"),
        ("experiments", "/managed_experiments"),
        ("reservations", "/reservations"),
        ("vms", "/api/timelines"),
    ):
        form = re.search(rf'<form id="{name}-filter".*?</form>', page, re.S)
        assert form is not None
        offered = re.findall(r"<option>([^<]*)</option>", form[0])
        parameters = schema()["paths"][path]["get"]["parameters"]
        (rule,) = (one["description"] for one in parameters if one["name"] == "in_state")
        assert sorted(offered) == sorted(rule.partition("States are ")[2].removesuffix(".").split(", "))
