"""Elements of HTML: whatever a text holds, it stays text."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.pictures.html.metric_rows import MetricCell, MetricRow, metrics_table

EVIL = """<script>alert("x")</script>'&amp;"""


class Reader(HTMLParser):
    """The elements, attributes and texts of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value or "" for _, value in attributes]
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.values.append(data)


@pytest.mark.parametrize(
    "element",
    [
        lambda text: markup.section("name", text, ""),
        markup.paragraph,
        lambda text: metrics_table(text, [], []),
        lambda text: metrics_table("", [text], []),
        lambda text: metrics_table("", [], [MetricRow(text, ())]),
        lambda text: metrics_table("", [], [MetricRow("", (MetricCell(text),))]),
        lambda text: metrics_table("", [], [MetricRow("", (MetricCell("", exact=text),))]),
        lambda text: metrics_table("", [], [MetricRow("", (MetricCell("", delta=text),))]),
        lambda text: markup.plain_table(text, [], []),
        lambda text: markup.plain_table("", [text], []),
        lambda text: markup.grouped_table(text, "", (), [], []),
        lambda text: markup.grouped_table("", text, (), [], []),
        lambda text: markup.grouped_table("", "", (text,), ["a"], []),
        lambda text: markup.grouped_table("", "", (), [text], []),
        lambda text: markup.job_button(text, 1),
        lambda text: markup.run_legend([text, "b"], dashed=True),
        lambda text: markup.chart("name", text, "", ""),
        lambda text: markup.chart("name", "", text, ""),
        lambda text: markup.chart("name", "", "", text),
        lambda text: markup.gantt(1, text, "", ""),
        lambda text: markup.gantt(1, "", "", text),
    ],
)
def test_texts_stay_texts_wherever_they_stand(element: Callable[[str], str]) -> None:
    """Each is read back as it was, no element comes of it, and all that were opened are closed."""
    plain, evil = Reader(element("plain")), Reader(element(EVIL))
    assert evil.tags == plain.tags
    assert evil.open == []
    assert [value.replace(EVIL, "plain") for value in evil.values] == plain.values
    assert plain.values != evil.values


def test_the_best_of_a_row_is_marked_for_eyes_and_ears() -> None:
    """The star is hidden from readers of screens, which say it in a word."""
    html = metrics_table("caption", ["a", "b"], [MetricRow("wait", (MetricCell("1 s", best=True), MetricCell("2 s")))])
    assert html.count("★") == html.count("best: ") == 1
    assert re.search(r'<td class=best>.*aria-hidden="true">★.*1 s</td><td>2 s</td>', html)


def test_a_single_run_needs_no_legend() -> None:
    """Several have each a line of its own, whose dashes are those of distributions."""
    assert markup.run_legend(["easy"], dashed=True) == ""
    names = [f"run {number}" for number in range(6)]
    dashed, solid = (markup.run_legend(names, dashed=wanted) for wanted in (True, False))
    assert len(set(re.findall(r'stroke-dasharray="(.*?)"', dashed))) == 5
    assert "stroke-dasharray" not in solid
    assert len(set(re.findall(r"var\(--run-\d\)", solid))) == 6


def test_sections_leave_out_empty_parts() -> None:
    """They are named by their headings."""
    assert markup.section("times", "Over time", "", "<p>x</p>", "") == (
        '<section id="times" aria-labelledby="times-title">\n<h2 id="times-title">Over time</h2>\n<p>x</p>\n</section>'
    )
