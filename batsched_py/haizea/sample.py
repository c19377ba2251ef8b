"""Samples: configurations, their requests and templates of scripts, generated from the table (H112)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from batsched_py.haizea.options import OPTIONS, SECTIONS, Option
from batsched_py.haizea.sample_traces import sample_traces

#: Columns of comments.
_WIDTH: Final = 96

#: Kind of sample -> its files, each with the function that generates its text.
KINDS: Final = ("trace", "barebones", "multi")

#: Profile -> its options of scheduling, in the sample for several runs.
_PROFILES: Final[Mapping[str, Mapping[str, str]]] = {
    "nobackfilling": {"backfilling": "off", "suspension": "none", "migration": "no"},
    "backfilling": {"backfilling": "aggressive", "suspension": "none", "migration": "no"},
    "backfilling+SR": {"backfilling": "aggressive", "suspension": "all", "migration": "no"},
    "backfilling+SR+M": {"backfilling": "aggressive", "suspension": "all", "migration": "yes"},
}
_MULTI: Final = """\
# Several runs: one for each profile, tracefile, and injection or none.
#
#   batsched-py haizea multi -c sample_multi.conf -d configurations
#   batsched-py haizea multi -c sample_multi.conf -d configurations -t run.sh.template > run.sh
#
# Folders are relative to that of this file. Options of [common:SECTION] are for all profiles, those
# of [PROFILE:SECTION] for one, before the common ones.

[multi]
tracedir: traces
tracefiles: withprematureend.lwf withoutprematureend.lwf
injectiondir: traces
injectionfiles: inj1.lwf inj2.lwf
datadir: results
"""


def sample_files(kind: str) -> dict[str, str]:
    """Return the files of a sample by their names: of a run with comments (trace), without (barebones), of several."""
    if kind == "multi":
        templates = {name: _template(name) for name in ("run.sh.template", "condor.template")}
        return {"sample_multi.conf": multi_sample(), **templates, **sample_traces()}
    name = "sample_trace.conf" if kind == "trace" else "sample_trace_barebones.conf"
    return {name: sample(comments=kind == "trace"), "sample.lwf": _template("sample.lwf")}


def sample(*, comments: bool) -> str:
    """Return a configuration for the quickstart; with comments it has every option, its values and its default."""
    parts = [_section(section, comments=comments) for section in SECTIONS]
    return "\n".join(part for part in parts if part)


def multi_sample() -> str:
    """Return a configuration for several runs: four profiles of scheduling, two traces, two injections."""
    parts = [_MULTI]
    own = {name for options in _PROFILES.values() for name in options}
    for section in SECTIONS:
        active = [option for option in _active(section) if not (section == "scheduling" and option.name in own)]
        lines = [_line(option) for option in active if section != "tracefile"]
        if lines:
            parts.append("\n".join((f"[common:{section}]", *lines, "")))
    for profile, options in _PROFILES.items():
        lines = [f"{name}: {text}" for name, text in options.items()]
        parts.append("\n".join((f"[{profile}:scheduling]", *lines, "")))
    return "\n".join(parts)


def _section(section: str, *, comments: bool) -> str:
    options = [option for option in OPTIONS if option.section == section]
    active = _active(section)
    if not comments:
        return "\n".join((f"[{section}]", *map(_line, active), "")) if active else ""
    lines = [f"[{section}]" if active else f"#[{section}]"]
    for option in options:
        lines += ["", *_comments(option), _line(option) if option in active else f"#{_line(option)}"]
    return "\n".join((*lines, ""))


def _active(section: str) -> list[Option]:
    """Return the options of a section that are in samples."""
    return [option for option in OPTIONS if option.section == section and option.sample]


def _comments(option: Option) -> list[str]:
    facts = [f"{option.name}: {option.type.label}"]
    if option.default is not None:
        facts.append(f"default {option.default}")
    if option.required is not None:
        facts.append(f"required when {option.required}" if option.required.option else "required")
    lines = ["; ".join(facts), option.help]
    if option.warning:
        lines.append(f"Ignored: {option.warning}.")
    return [f"# {line}" for text in lines for line in textwrap.wrap(text, _WIDTH, break_on_hyphens=False)]


def _line(option: Option) -> str:
    return f"{option.name}: {option.sample or option.default or ''}".rstrip()


def _template(name: str) -> str:
    return (files("batsched_py.haizea") / "samples" / name).read_text("utf-8")
