"""Pictures and the page of a comparison: what is drawn, what is refused, what stands where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.campaigns import AlgorithmComparison, Drawn, Variant, compare_algorithms, find_metrics, run_study
from batsched_py.campaigns.comparison import find_best_algorithms
from batsched_py.campaigns.comparison_page import comparison_page, write_page
from batsched_py.campaigns.figure_kinds import Kind
from batsched_py.campaigns.figures import Sweep, draw_comparison, find_sweep, values_of
from batsched_py.campaigns.series import ComparisonSeries, SeriesPart
from batsched_py.errors import OptionError
from tests.platforms import plain_platform

METRICS = ("mean_wait", "utilisation")


def comparison(*variants: Variant, workloads: int = 3) -> AlgorithmComparison:
    """Compare these on small workloads."""
    drawn = {f"seed {seed}": Drawn(jobs=20, hosts=8, seed=seed, load=1.0) for seed in range(workloads)}
    study = run_study(plain_platform(8), drawn, variants, processes=1)
    return compare_algorithms(study, find_metrics(METRICS))


def depth(value: int) -> Variant:
    """Return backfilling of this depth."""
    return Variant(f"depth {value}", "backfill", {"depth": str(value)})


FCFS, EASY = Variant("fcfs", "fcfs"), Variant("easy", "easy")


@pytest.fixture(scope="module")
def two() -> AlgorithmComparison:
    """EASY and FCFS."""
    return comparison(EASY, FCFS)


@pytest.fixture(scope="module")
def sweep() -> AlgorithmComparison:
    """An option at three values, not in their order, beside another algorithm."""
    return comparison(FCFS, depth(8), depth(1), depth(2))


def test_an_option_that_varies_is_found(two: AlgorithmComparison, sweep: AlgorithmComparison) -> None:
    """Its values ascend, whatever the order of the variants."""
    assert find_sweep(two.study) is None
    assert find_sweep(sweep.study) == Sweep("depth", {"depth 1": 1.0, "depth 2": 2.0, "depth 8": 8.0})


@pytest.mark.parametrize(
    "others",
    [
        (Variant("a", "backfill", {"depth": 1}), Variant("b", "backfill", {"depth": 2, "order": "sjf"})),
        (Variant("a", "easy", {"order": "sjf"}), Variant("b", "easy", {"order": "fcfs"})),
        (Variant("a", "easy"), Variant("b", "easy")),
    ],
)
def test_two_options_words_and_equals_are_no_sweep(others: tuple[Variant, ...]) -> None:
    """A curve over them would say what is not so."""
    assert find_sweep(comparison(*others, workloads=1).study) is None


@pytest.mark.parametrize("kind", ["forest", "boxes", "curve"])
def test_the_same_comparison_is_the_same_picture(sweep: AlgorithmComparison, kind: Kind) -> None:
    """Byte for byte, with a panel for each metric under its heading, and the names of algorithms."""
    drawn = draw_comparison(sweep, kind, title="A title")
    assert drawn.content("pdf") == draw_comparison(sweep, kind, title="A title").content("pdf")
    text = draw_comparison(sweep, kind, title="A title").content("svg").decode()
    names = {
        "forest": ["depth 8", "ratio to fcfs"],
        "boxes": ["depth 1", "fcfs"],
        "curve": ["depth", "fcfs"],
    }
    for name in ("A title", "mean wait [s]", "utilisation [%]", *names[kind]):
        assert name in text


def test_a_forest_plot_shows_ratios_and_their_intervals(two: AlgorithmComparison) -> None:
    """From end to end, with the value between them."""
    figure = draw_comparison(two, "forest").figure
    shares = figure.axes[1]
    pairs = two.metrics[1].means[1].pairs
    assert pairs is not None
    assert pairs.ratio is not None
    line, point = shares.get_lines()[:2]
    assert pairs.ratio.low is not None
    assert list(line.get_xdata()) == [pairs.ratio.low, pairs.ratio.high]
    assert list(point.get_xdata()) == [pairs.ratio.value]


def test_boxes_are_of_the_values_that_tables_show(two: AlgorithmComparison) -> None:
    """In their unit: percents, not shares."""
    shares = values_of(two.study, "easy", two.metrics[1].metric)
    assert len(shares) == 3
    assert 1 < min(shares) <= max(shares) <= 100


def test_a_curve_goes_through_the_means(sweep: AlgorithmComparison) -> None:
    """At the values of the option; an algorithm without it is a level line."""
    waits = draw_comparison(sweep).figure.axes[0]
    curve, level = waits.get_lines()
    means = {mean.variant: mean.mean.value for mean in sweep.metrics[0].means if mean.mean is not None}
    assert list(curve.get_xdata()) == [1, 2, 8]
    assert list(curve.get_ydata()) == [means["depth 1"], means["depth 2"], means["depth 8"]]
    assert set(level.get_ydata()) == {means["fcfs"]}


def test_what_would_be_empty_is_refused(two: AlgorithmComparison) -> None:
    """With what it needs."""
    with pytest.raises(OptionError, match="differ in one option, which is a number"):
        draw_comparison(two, "curve")
    with pytest.raises(OptionError, match="a forest plot needs a ratio to easy"):
        draw_comparison(comparison(EASY), "forest")


def test_a_page_shows_tables_pictures_and_every_workload(two: AlgorithmComparison) -> None:
    """The numbers are those of the tables in the terminal; it asks for nothing."""
    page = comparison_page(two, "A & B").decode()
    assert page == comparison_page(two, "A & B").decode()
    assert "A &amp; B" in page
    mean = two.metrics[0].means[1].mean
    assert mean is not None
    assert f"{mean.value:.1f}</td>" in page
    for name in two.study.workloads:
        assert name in page
    assert page.count("data:image/svg+xml") == 2
    assert "default-src 'none'" in page
    assert not re.findall(r"(?:src|href)=\"(?!data:|#)", page)


def test_a_page_shows_ratios_and_options(sweep: AlgorithmComparison) -> None:
    """Bars of intervals stand where the scale says; algorithms are listed with the options that were set."""
    page = comparison_page(sweep).decode()
    [ratio] = [mean.pairs.ratio for mean in sweep.metrics[1].means if mean.variant == "depth 8" and mean.pairs]
    assert ratio is not None
    value, low, high = ratio.texts(3)
    assert f"<span>{value}</span> <span>[{low}, {high}]</span>" in page
    places = [float(place) for place in re.findall(r'class="value" style="left:([\d.]+)%"', page)]
    assert len(places) == 6
    assert all(3 <= place <= 97 for place in places)
    assert "<dt>depth 8</dt><dd>backfill with depth=8</dd>" in page
    assert "<dt>fcfs</dt><dd>fcfs with its default options</dd>" in page
    differing = page[page.index("Options in which") : page.index("Options that are equal")]
    names = re.findall(r'<th scope="row">(\w+)</th>', differing)
    assert names == ["algorithm", "depth"]


def test_a_page_of_several_loads_has_metrics_of_each(two: AlgorithmComparison) -> None:
    """The result is in words for each of them."""
    parts = tuple(SeriesPart({"load": load}, two) for load in (0.5, 1.0))
    page = comparison_page(ComparisonSeries(two.study, parts)).decode()
    assert re.findall("<h3>(load=[^<]*)</h3>", page[: page.index('id="metrics"')]) == ["load=0.5", "load=1.0"]


def test_a_page_marks_the_best_and_tells_by_what_rule(two: AlgorithmComparison) -> None:
    """Without intervals the best value, which is also read out; with them none here."""
    drawn = {"crowded": Drawn(jobs=80, hosts=8, seed=1, load=1.5)}
    study = run_study(plain_platform(8), drawn, (EASY, FCFS), processes=1)
    one = compare_algorithms(study, find_metrics(METRICS))
    page = comparison_page(one).decode()
    marked = [
        mean
        for metric in one.metrics
        for mean in metric.means
        if mean.variant in find_best_algorithms(one, metric) and mean.mean is not None
    ]
    assert len(marked) == page.count("★</span>") > 0
    assert all(f"best: </span>{mean.mean.value:.1f}" in page for mean in marked[:1] if mean.mean is not None)
    assert "★ marks the best value of a metric." in page
    assert "★ marks the best mean of a metric, if the interval" in comparison_page(two).decode()


def test_names_are_escaped_on_a_page(two: AlgorithmComparison, tmp_path: Path) -> None:
    """Names of algorithms and of workloads are."""
    study = two.study
    outcomes = tuple(replace(one, workload=f"<i>{one.workload}", warnings=("<script>x",)) for one in study.outcomes)
    changed = replace(study, workloads=tuple(f"<i>{name}" for name in study.workloads), outcomes=outcomes, origins={})
    write_page(tmp_path / "page.html", replace(two, study=changed))
    page = (tmp_path / "page.html").read_text()
    assert "<i>" not in page
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page
