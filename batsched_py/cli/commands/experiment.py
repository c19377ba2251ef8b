"""`batsched-py experiment`: descriptors, their requests and all errors in them; and the experiments of a live site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import COMMON, current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.site_lists import ListOptions, list_options, part_options
from batsched_py.cli.shared.site_options import SitePlace, post_descriptor, site_options
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

#: The resource of the API of a site.
_EXPERIMENTS: Final = "managed_experiments"
_HEADINGS = ("resource", "kind", "location", "after", "address of", "requested", "created", "address")


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Validate and show the description of an experiment, and submit it to a live site."""


command.params += COMMON


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


@typed_command()
@click.argument("file", type=PATH)
@site_options
def submit(place: SitePlace, file: Path) -> None:
    """Submit FILE, a descriptor in JSON or OVF, to a live site, and print the number of the experiment."""
    accepted = post_descriptor(place, _EXPERIMENTS, file, current_limits())
    say("Experiment submitted.")
    say(f"Experiment ID: {displayed(str(accepted['id']))}")


@typed_command(limits=False)
@list_options
@site_options
def listed(place: SitePlace, wanted: ListOptions) -> None:
    """List the experiments of a live site."""
    items = wanted.read(place.client_of_list(), _EXPERIMENTS, items=lambda part: part["items"])
    table = Table("ID", "name", "owner", "state", "deployed", "ends", box=box.SIMPLE, pad_edge=False)
    for one in items:
        times = (NOTHING if one[name] is None else seconds(one[name]) for name in ("deployed", "ends"))
        table.add_row(*map(displayed, (one["id"], one["name"], one["owner"], one["status"], *times)))
    if items:
        show_table(table)
    else:
        say("There are no experiments.")


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@flag("--json as_json", "Print the answer of the site, JSON.")
@site_options
def status(place: SitePlace, number: int, *, as_json: bool) -> None:
    """Show the experiment ID of a live site, and its resources."""
    one = place.client().get(_EXPERIMENTS, number)
    if as_json:
        put(json.dumps(one, ensure_ascii=False).encode() + b"\n", is_json=True)
        return
    failure = f": {one['failure']}" if one["failure"] else ""
    say(displayed(f"{one['name']}: {one['status']}{failure}"))
    table = Table("resource", "kind", "location", "state", "host", "addresses", box=box.SIMPLE, pad_edge=False)
    for each in one["resources"]:
        addresses = ", ".join(each["addresses"].values())
        cells = (each["name"], each["kind"].replace("_", " "), each["location"], each["state"], each["host"], addresses)
        table.add_row(*(displayed(str(cell)) if cell else NOTHING for cell in cells))
    show_table(table, folded=5)


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@part_options
@site_options
def log(place: SitePlace, wanted: ListOptions, number: int) -> None:
    """Show the log of the experiment ID of a live site; times are simulated seconds.

    Messages are numbered from 1.
    """
    for line in wanted.read(place.client(), _EXPERIMENTS, number, "log"):
        about = f" {line['resource']}:" if line["resource"] else ""
        say(displayed(f"{seconds(line['time'])} {line['level']}{about} {line['text']}"))


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def delete(place: SitePlace, number: int) -> None:
    """Delete the experiment ID of a live site, in any state, and free its resources."""
    place.client().delete(_EXPERIMENTS, number)


command.add_command(show, "show")
command.add_command(submit, "submit")
command.add_command(listed, "list")
command.add_command(status, "status")
command.add_command(log, "log")
command.add_command(delete, "delete")
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
