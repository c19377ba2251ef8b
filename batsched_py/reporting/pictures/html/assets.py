"""The static files of pages: style, scripts, templates."""

from __future__ import annotations

from importlib.resources import files
from string import Template


def asset(name: str) -> str:
    """Return the text of a file in page/."""
    return (files("batsched_py.reporting.pictures.html") / "page" / name).read_text("utf-8")


def template(name: str) -> Template:
    """Return a template in page/, with $names to replace."""
    return Template(asset(name))
