"""Experiments in JSON."""

from __future__ import annotations

from typing import Any

from batsched_py.experiments.views import ExperimentView
from batsched_py.site.api.experiment_xml import PATH, uses_reservation


def experiment_json(one: ExperimentView) -> dict[str, Any]:
    """Return the JSON form of an experiment: with its address in the API and its resources, without its log."""
    return {**experiment_summary(one), "resources": one.resources}


def experiment_summary(one: ExperimentView) -> dict[str, Any]:
    """Return the JSON form of an experiment in a list."""
    members = {name: value for name, value in one._asdict().items() if name not in ("log", "resources", "timelines")}
    links = {"experiment": one.link, "log": f"{PATH}/{one.id}/log"}
    links |= {"reservation": one.reservation} if uses_reservation(one) else {}
    links |= {"timelines": f"{PATH}/{one.id}/timelines"} if one.timelines else {}
    return {"href": f"{PATH}/{one.id}", **members, "links": links}
