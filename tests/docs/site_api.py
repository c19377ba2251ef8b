"""Reference of a site's API, written from its OpenAPI description; `python -m tests.docs.site_api` writes it."""

from __future__ import annotations

import inspect
import re
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final

from msgspec import Struct

import batsched_py.site.api
from batsched_py.plugins import load
from batsched_py.simulator.settings import Settings
from batsched_py.site.api.app import DoorSettings, make_app
from batsched_py.site.api.problems import REFUSALS
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import SiteSettings
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT

PAGE: Final = ROOT / "docs" / "site-api.md"
PLATFORM: Final = ROOT / "platforms" / "tiny4.xml"
_HEAD: Final = """# The API of a site

All that a [live site](site.md) answers, as `GET /openapi/openapi.json` of a site tells it to programs. Bodies are JSON;
[who may ask](site.md#who-may-ask) says what else a request must show. Times are simulated seconds since the site began,
unless it is said otherwise. This page is written by `python -m tests.docs.site_api`.
"""
_REFUSED: Final = """
## What is refused

Every call may be answered by one of these, with the body [`Problems`](#problems):

| status | meaning |
|---|---|
"""


def schema() -> dict[str, Any]:
    """Return the description of the API of a site."""
    with tempfile.TemporaryDirectory() as folder:
        settings = SiteSettings(
            name=PLATFORM.name, scheduler=load("fcfs"), algorithm="fcfs", options={}, folder=Path(folder)
        )
        site = SimulatedSite(settings, read_platform(PLATFORM), PLATFORM.read_bytes(), Settings())
        site.stop()
        return make_app(site, DoorSettings()).openapi_schema.to_schema()


def page() -> str:
    """Return the page."""
    described = schema()
    groups: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, call in methods.items():
            groups.setdefault(call["tags"][0], []).append("".join(_call(method, path, call)))
    calls = [f"\n## {tag.capitalize()}\n{''.join(found)}" for tag, found in groups.items()]
    refused = _REFUSED + "".join(f"| {status} | {_cell(text)} |\n" for status, text in REFUSALS.items())
    known = _structs()
    bodies = [
        "".join(_body(name, one, known.get(name))) for name, one in sorted(described["components"]["schemas"].items())
    ]
    return _HEAD + "".join(calls) + refused + "\n## Bodies\n" + "".join(bodies)


def _call(method: str, path: str, call: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n### {method.upper()} {path}\n\n{textwrap.fill(call['description'], 120)}\n"
    if parameters := call.get("parameters"):
        yield "\n| parameter | where | type | meaning |\n|---|---|---|---|\n"
        for one in parameters:
            kind = _type(one["schema"])
            yield f"| `{one['name']}` | {one['in']} | {kind} | {_cell(one.get('description', ''))} |\n"
    if body := call.get("requestBody"):
        yield f"\nBody: {_content(body)}.\n"
    answers = {status: one for status, one in call["responses"].items() if int(status) not in REFUSALS}
    told = [f"{status}{f', {content}' if (content := _content(one)) else ''}" for status, one in answers.items()]
    yield f"\nAnswer: {'; '.join(told)}.\n"


def _content(one: Mapping[str, Any]) -> str:
    for media, content in one.get("content", {}).items():
        return _type(content["schema"]) if media == "application/json" else f"`{media}`"
    return ""


def _type(described: Mapping[str, Any]) -> str:
    """Return a type in words, with its bounds and its default."""
    if name := described.get("$ref", "").rpartition("/")[2]:
        return f"[`{name}`](#{name.lower()})"
    if parts := described.get("oneOf"):
        return " or ".join(dict.fromkeys(map(_type, parts)))
    kind = {"type": "any", **described}["type"]
    if "const" in described or "enum" in described:
        text = " or ".join(f'"{one}"' for one in described.get("enum", [described.get("const")]))
    elif kind == "array":
        text = f"list of {_type(described.get('items', {}))}"
    else:
        text = str(kind)
    bounds = [
        f"{word} {described[name]:g}" if described[name] < 1e6 else f"{word} {described[name]:.0f}"
        for name, word in (
            ("minimum", "from"), ("exclusiveMinimum", "more than"), ("maximum", "to"), ("maxItems", "at most"),
        )
        if name in described
    ]  # fmt: skip
    default = described.get("default")
    if default not in (None, ""):
        bounds.append(f"by default {str(default).lower()}")
    return f"{text}, {', '.join(bounds)}" if bounds else text


def _body(name: str, described: Mapping[str, Any], struct: type[Struct] | None) -> Iterator[str]:
    about, meanings = _documented(struct)
    yield f"\n### {name}\n\n{textwrap.fill(about, 120)}\n\n| member | type | meaning |\n|---|---|---|\n"
    needed = described.get("required", ())
    for member, one in described["properties"].items():
        label = f"`{member}`" if member in needed else f"`{member}` (may be left out)"
        yield f"| {label} | {_type(one)} | {_cell(meanings.get(member, ''))} |\n"


def _documented(struct: type[Struct] | None) -> tuple[str, dict[str, str]]:
    """Return what the docstring of a body says of it, and of its members."""
    text = inspect.getdoc(struct) or "" if struct is not None else ""
    about, _, rest = text.partition("Attributes:")
    meanings = dict[str, str]()
    for one in re.findall(r"^ {4}(\S.*(?:\n {8}.*)*)", rest, re.MULTILINE):
        names, _, meaning = " ".join(one.split()).partition(": ")
        meanings.update(dict.fromkeys(names.split(", "), re.sub(r"\bNone\b", "null", meaning)))
    return " ".join(about.split()), meanings


def _structs() -> dict[str, type[Struct]]:
    """Return the bodies of the API, by name."""
    found = dict[str, type[Struct]]()
    for module in iter_modules(batsched_py.site.api.__path__, "batsched_py.site.api."):
        for name, one in vars(import_module(module.name)).items():
            if inspect.isclass(one) and issubclass(one, Struct) and one.__module__ == module.name:
                found[name] = one
    return found


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page())
