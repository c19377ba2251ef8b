"""Figures of campaigns: what can be on an axis, and what is refused."""

from __future__ import annotations

import pytest

from batsched_py.campaigns.execution.campaign_runner import read_state, run_missing
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.metrics import find_metrics
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.points import axes_of, label
from batsched_py.campaigns.results.campaign_figures import FigureChoice, draw_campaign
from batsched_py.campaigns.results.dimensions import find_points
from batsched_py.campaigns.results.groups import GroupComparison, compare_groups, group_studies
from batsched_py.errors import OptionError
from tests.studies import STUDY, HereWorkers, planned

#: A plan, and the algorithms in each of its groups.
Compared = tuple[CampaignPlan, list[GroupComparison]]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """Two loads, two depths and another algorithm."""
    folder = tmp_path_factory.mktemp("campaign")
    plan, store = planned(folder, STUDY.replace("jobs = 20", "jobs = 20\nload = [0.7, 0.9]")), RunStore(folder)
    state = run_missing(read_state(plan, store), store, HereWorkers(), jobs=False)
    return plan, compare_groups(group_studies(plan, state.ended), find_metrics(["mean_wait", "utilisation"]), None)


def drawn(compared: Compared, choice: FigureChoice) -> str:
    """The text of a figure."""
    return draw_campaign(*compared, choice).content("svg").decode()


def test_dimensions_are_what_varies(compared: Compared) -> None:
    """Options, parameters of the model, algorithms; the one with the most numbers comes first."""
    points = find_points(*compared)
    assert [dict(point.values) for point in points[:3]] == [
        {"load": 0.7, "algorithm": "backfill", "depth": 1},
        {"load": 0.7, "algorithm": "backfill", "depth": 4},
        {"load": 0.7, "algorithm": "fcfs"},
    ]
    assert sorted(axes_of(points, [None, None])) == ["depth", "load"]
    assert axes_of(points, ["load", None]) == ["load", "depth"]
    assert [label(point, ["load"], points) for point in points[:3]] == [
        "backfill depth=1",
        "backfill depth=4",
        "fcfs",
    ]


def test_a_curve_has_a_line_for_all_else_that_varies(compared: Compared) -> None:
    """Groups without a value on the axis are levels."""
    text = drawn(compared, FigureChoice(x="depth", title="A title"))
    for name in ("A title", "mean wait [s]", "utilisation [%]", "load=0.7 backfill", "load=0.9 fcfs", ">depth<"):
        assert name in text
    assert text == drawn(compared, FigureChoice(x="depth", title="A title"))


def test_a_heat_map_has_a_cell_for_each_pair(compared: Compared) -> None:
    """With its mean."""
    _, groups = compared
    text = drawn(compared, FigureChoice("heat", x="depth", y="load"))
    for one in groups:
        for mean in one.comparison.metrics[0].means[:2]:
            assert mean.mean is not None
            assert f">{mean.mean.value:.1f}<" in text


def test_ratios_are_of_all_groups_or_of_one(compared: Compared) -> None:
    """Rows of several groups say which; those of one do not."""
    rows = drawn(compared, FigureChoice("forest"))
    assert "ratio to backfill(depth=1)" in rows
    assert all(f">fcfs, load={load}<" in rows for load in ("0.7", "0.9"))
    one = drawn(compared, FigureChoice("forest", group="lublin load=0.9"))
    assert "ratio to backfill(depth=1)" in one
    assert ">fcfs<" in one


@pytest.mark.parametrize(
    ("choice", "rule"),
    [
        (FigureChoice(x="width"), "width: unknown"),
        (FigureChoice(group="lublin"), "group lublin: unknown; "),
        (FigureChoice("heat", x="load", y="load"), "nothing else varies"),
        (FigureChoice("heat", x="load", y="algorithm"), "a heat map shows one algorithm in one group"),
    ],
)
def test_what_cannot_be_drawn_is_told(compared: Compared, choice: FigureChoice, rule: str) -> None:
    """In one line."""
    with pytest.raises(OptionError, match=rule):
        drawn(compared, choice)
