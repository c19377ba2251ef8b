"""`batsched-py experiment`: the requests of a descriptor, their order, and all errors in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import DEBUG, current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.terminal import put, say, warn
from batsched_py.errors import WorkloadError
from batsched_py.experiments.api import (
    Experiment,
    Forecast,
    InvalidDescriptorError,
    Situation,
    Testbed,
    deployed_at,
    deployment_order,
    descriptor_schema,
    forecast,
    parse_testbed,
    read_descriptor,
)
from batsched_py.experiments.model import KINDS
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.files.document_file import read_document
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, counted, seconds

_HEADINGS = ("resource", "kind", "location", "after", "address of", "requested", "created", "address")


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Validate and show the description of an experiment."""


command.params.append(DEBUG)


@typed_command()
@click.argument("file", type=PATH)
@option("--testbed", "FILE", "Locations with their delays and catalogues, JSON or YAML.", type=PATH)
@flag("--json as_json", "Print the deployment order, or all errors, as JSON.")
def show(file: Path, testbed: Path | None, *, as_json: bool) -> None:
    """Validate FILE, a descriptor in JSON or OVF, and show the order in which its resources are deployed.

    Times are seconds since the start of the deployment, if every request is granted at once. All errors are listed,
    each with its path.
    """
    site = _read_testbed(testbed)
    with reported(file, WorkloadError):
        content = read_file(file, current_limits())
    try:
        experiment = read_descriptor(str(file), content, Situation(site), warn=warn)
    except InvalidDescriptorError as error:
        if as_json:
            found = [{"path": fault.path, "message": fault.rule} for fault in error.faults]
            put(json.dumps({"faults": found}, ensure_ascii=False).encode() + b"\n", is_json=True)
        raise
    expected = forecast(deployment_order(experiment), site)
    if as_json:
        put(json.dumps(_as_json(experiment, expected), ensure_ascii=False).encode() + b"\n", is_json=True)
    else:
        _show(experiment, expected)


@typed_command(limits=False)
def print_schema() -> None:
    """Print the JSON schema of descriptors."""
    put(json.dumps(descriptor_schema(), indent=2).encode() + b"\n", is_json=True)


command.add_command(show, "show")
command.add_command(print_schema, "schema")


def _read_testbed(path: Path | None) -> Testbed:
    return Testbed() if path is None else parse_testbed(str(path), read_document(path, current_limits()))


def _as_json(experiment: Experiment, expected: tuple[Forecast, ...]) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "duration": experiment.duration,
        "start": experiment.start,
        "order": [
            {
                "resource": one.planned.name,
                "kind": KINDS[type(one.planned.resource)],
                "location": one.planned.location,
                "after": list(one.planned.after),
                "addresses": list(one.planned.addresses),
                "requested": one.requested,
                "created": one.created,
                "addressed": one.addressed,
            }
            for one in expected
        ],
        "deployed": deployed_at(expected),
    }


def _show(experiment: Experiment, expected: tuple[Forecast, ...]) -> None:
    table = Table(*_HEADINGS, box=box.SIMPLE, pad_edge=False)
    for column in table.columns[-3:]:
        column.justify = "right"
    for one in expected:
        planned = one.planned
        cells = (
            planned.name,
            KINDS[type(planned.resource)].replace("_", " "),
            planned.location or NOTHING,
            ", ".join(name for name in planned.after if name not in planned.addresses) or NOTHING,
            ", ".join(planned.addresses) or NOTHING,
            seconds(one.requested),
            seconds(one.created),
            NOTHING if one.addressed is None else seconds(one.addressed),
        )
        table.add_row(*map(displayed, cells))
    show_table(table, folded=len(_HEADINGS) - 5)
    start = "" if experiment.start is None else f"from {seconds(experiment.start)} on, "
    lasts = f"{start}{seconds(experiment.duration)} s"
    resources = counted(len(expected), "resource")
    say(f"{displayed(experiment.name)}: {resources}, deployed after {seconds(deployed_at(expected))} s; lasts {lasts}")
