"""`batsched-py placements`: possible placements on a platform, as proposed by the algorithm `placer`."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import HOSTS, INPUT, PATH, Number, flag, option
from batsched_py.cli.shared.query_arguments import QueryCommand, parse_query
from batsched_py.cli.shared.terminal import put, say, say_all, warn_all
from batsched_py.collection.alternatives import Schedule, write_alternatives
from batsched_py.collection.classes import JobClass, parse_classes
from batsched_py.collection.demands import FREE_HOST, IS_VAULT
from batsched_py.collection.enactor import Enactor
from batsched_py.collection.placers import PLACERS, PlacementRequest, Placer, PlacerSettings
from batsched_py.collection.platform import platform_collection
from batsched_py.files.document_file import read_document
from batsched_py.loading import load_object
from batsched_py.queries.expression import Expression, both
from batsched_py.queries.records import Requester
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, unknown
from batsched_py.traces.simgrid_xml import read_platform


class PlacementsRequest(Struct, frozen=True):
    """The options of `placements`."""

    expression: str
    platform: Path
    hosts: int
    vault: str | None
    space: float
    user: str | None
    classes: Path | None
    job_class: str | None
    place: str
    alternatives: int
    seed: int
    plain: bool
    json: bool


@typed_command(kind=QueryCommand)
@click.argument("expression", metavar="EXPR", default="true")
@option("-p --platform", "FILE", "Platform, SimGrid XML, none of whose hosts is in use.", type=INPUT, required=True)
@option("--hosts", "N", "Place so many objects, each on a host of its own.", type=HOSTS, default=1)
@option("--vault", "EXPR", "A vault, too, for which this query is true.")
@option("--space", "AMOUNT", "The vault must have so much space.", type=Number(min=0), default=0.0)
@option("--as user", "USER", "Leave out hosts that are certain to refuse this user.")
@option("--classes", "FILE", "Classes of jobs, JSON or YAML.", type=PATH)
@option("--class job_class", "NAME", "Place something of this class.")
@option("--place", "NAME", "Who proposes: best, random, round-robin, or file.py:Class.", default="best")
@option("--alternatives", "N", "Propose so many schedules at most.", type=click.IntRange(1, 1000), default=4)
@option("--seed", "N", "The same seed makes the same proposal.", type=int, default=0)
@flag("--plain", "Print nothing but the names of hosts that may be chosen, one a line.")
@flag("--json", "Print the schedules as JSON, as a job's member `alternatives` has them.")
def command(request: PlacementsRequest) -> None:
    """Show possible placements on hosts that match the query EXPR, without reserving them.

    The algorithm `placer` proposes such schedules, in this order, and tries them one after the other.
    """
    kind, query = _class(request), parse_query(request.expression)
    placer, asked = _placer(request), _asked(request, kind, query)
    schedules = [] if request.plain else placer.schedule(asked)
    if request.json:
        put(json.dumps(write_alternatives(schedules), ensure_ascii=False).encode() + b"\n", is_json=True)
        return
    hosts = placer.candidate_placements(kind, query, requester=asked.requester).hosts
    if request.plain:
        say_all(displayed(name) for name in hosts)
        return
    _show(schedules)
    vaults = "" if asked.vault is None else f" and {counted(len(placer.vaults(asked)), 'vault')}"
    say(f"{counted(len(schedules), 'alternative')} of {counted(len(hosts), 'host')}{vaults} that may be chosen")


def _placer(request: PlacementsRequest) -> Placer:
    """Return the requested placer, with all hosts free."""
    platform = read_platform(request.platform, limits=current_limits())
    warn_all(platform.notes)
    collection = platform_collection(platform)
    try:
        way = PLACERS.find(request.place, load_object)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--place'") from None
    settings = PlacerSettings(alternatives=request.alternatives, draw=random.Random(request.seed).random)
    return way.make(collection, Enactor(lambda _: None), settings)


def _asked(request: PlacementsRequest, kind: JobClass, query: Expression) -> PlacementRequest:
    """Return the request to the placer."""
    vault = None
    if request.vault is not None or request.space:
        vault = kind.restrict_vault(both(IS_VAULT, parse_query(request.vault or "true")))
    return PlacementRequest(
        [str(number) for number in range(request.hosts)],
        both(FREE_HOST, kind.restrict(query)),
        requester=Requester(request.user, request.job_class),
        vault=vault,
        space=request.space,
        arrange=kind.placer,
    )


def _class(request: PlacementsRequest) -> JobClass:
    """Return the class with this name."""
    if request.job_class is None:
        return JobClass()
    if request.classes is None:
        raise click.UsageError("'--class' needs '--classes', the file that describes it")
    classes = parse_classes(str(request.classes), read_document(request.classes, current_limits()))
    if request.job_class not in classes:
        raise click.BadParameter(unknown(request.job_class, classes), param_hint="'--class'")
    return classes[request.job_class]


def _show(schedules: Sequence[Schedule]) -> None:
    """Show schedules by object, and only the differences after the first one."""
    table = Table("", "object", "host", "vault", box=box.SIMPLE, pad_edge=False)
    for number, written in enumerate(write_alternatives(schedules), 1):
        ((kind, placements),) = written.items()
        for place, placement in enumerate(placements):
            name = "" if place else str(number) if kind == "placements" else f"{number}: but"
            table.add_row(name, *(displayed(placement.get(key, "")) for key in ("object", "host", "vault")))
    if schedules:
        show_table(table)
