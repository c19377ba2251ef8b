"""The page as a whole: its sections, and what it carries, in one file."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

import msgspec

import batsched_py
from batsched_py.reporting.formatting import clock
from batsched_py.reporting.metrics.run_metrics import measure_run
from batsched_py.reporting.metrics.same_jobs import JobMarks, marks_of, other_jobs
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.pictures.colouring import HOST_COLOURS
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.pictures.html.content import Content, pack
from batsched_py.reporting.pictures.html.differences import Difference, Fate, Move, compare
from batsched_py.reporting.pictures.html.metric_rows import other_rows, summary_rows
from batsched_py.reporting.pictures.html.words import DEFINITIONS, KEYS, TOOLBAR
from batsched_py.reporting.pictures.window import number_jobs
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.wording import NARROW_BLANK, counted, grouped

#: Scripts of the page, each using what stands before it.
SCRIPTS: Final = (
    "words.js", "data.js", "colours.js", "raster.js", "gantt.js", "view.js", "hands.js", "charts.js", "main.js",
)  # fmt: skip

#: So many rejected jobs are named, of each run.
MOST_REJECTED: Final = 100


def report_page(schedules: Sequence[Schedule], plotly: bytes, title: str = "", bound: float = SLOWDOWN_BOUND) -> bytes:
    """A page that shows these schedules, the first being what the others are compared with.

    It makes no request: `plotly` is the text of plotly.js, which it carries. Runs shorter than `bound` seconds count as
    that long in bounded slowdowns. The same schedules give the same bytes.
    """
    content = pack(schedules, bound)
    heading = title or " · ".join(run.name for run in content.runs)
    page = Template(_asset("page.html")).substitute(
        version=escape(batsched_py.__version__),
        title=escape(heading),
        style=_host_colours() + _asset("page.css"),
        body=_body(schedules, content, heading),
        data=_packed(msgspec.json.encode(content)),
        plotly=_packed(plotly),
        script="\n".join(map(_asset, SCRIPTS)),
    )
    return page.encode()


def _asset(name: str) -> str:
    return (files("batsched_py.reporting.pictures.html") / "page" / name).read_text("utf-8")


def _host_colours() -> str:
    light, dark = (
        " ".join(f"--host-{state}: {both[scheme]};" for state, both in enumerate(HOST_COLOURS.values()))
        for scheme in (0, 1)
    )
    return f':root {{ {light} }}\n@media screen {{ :root[data-scheme="dark"] {{ {dark} }} }}\n'


def _packed(data: bytes) -> str:
    """Compressed, in characters that mean nothing in HTML."""
    return b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def _body(schedules: Sequence[Schedule], content: Content, heading: str) -> str:
    names = [run.name for run in content.runs]
    found = [compare(schedules[0], other) for other in schedules[1:]]
    sections = [
        ("summary", "Summary", _summary(schedules, found, content.bound)),
        ("differences", "Differences", _differences(schedules, found, content)),
        ("over-time", "Over time", _over_time(schedules, found, content)),
        ("distributions", "Distributions", _distributions(schedules, names, content.bound)),
        ("rejected", "Rejected jobs", _rejected(schedules)),
        ("notes", "Notes", _notes(schedules, content.bound)),
    ]
    shown = [(name, title, parts) for name, title, parts in sections if parts]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in shown)
    return "\n".join(
        (
            '<a class="skip" href="#content">to the content</a>',
            f"<header><div><h1>{escape(heading)}</h1>{markup.paragraph(_subtitle(schedules))}</div>",
            '<button type="button" id="scheme" title="light or dark">◐ light / dark</button></header>',
            f'<nav aria-label="sections"><ul>{links}</ul></nav>',
            '<main id="content">',
            '<p id="problem" role="alert" hidden></p>',
            "<noscript><p>The charts need JavaScript; the tables do not.</p></noscript>",
            *(markup.section(name, title, *parts) for name, title, parts in shown),
            "</main>",
            '<div id="status" class="heard" role="status" aria-live="polite"></div>',
            '<div id="tip" aria-hidden="true" hidden></div>',
            f"<footer>Made by batsched-py {escape(batsched_py.__version__)}. This page needs no network.</footer>",
        )
    )


def _subtitle(schedules: Sequence[Schedule]) -> str:
    machines = {(len(schedule.jobs) + schedule.unlisted, schedule.hosts) for schedule in schedules}
    runs = "" if len(schedules) == 1 else f"{len(schedules)} runs: "
    return runs + ", ".join(_size(jobs, hosts) for jobs, hosts in sorted(machines))


def _size(jobs: int, hosts: int) -> str:
    return f"{_count(jobs, 'job')} on {_count(hosts, 'host')}"


def _count(number: int, noun: str) -> str:
    return counted(number, noun, blank=NARROW_BLANK)


def _summary(schedules: Sequence[Schedule], found: Sequence[Difference], bound: float) -> list[str]:
    names = [schedule.name for schedule in schedules]
    marks = [marks_of(schedule.jobs) for schedule in schedules]
    ranked = all(each.comparable for each in found) and all(each.ran == marks[0].ran for each in marks)
    measured = [measure_run(schedule, bound) for schedule in schedules]
    caption = _table_caption(names, ranked=ranked)
    rest = markup.metrics_table(caption, names, other_rows(measured, ranked=ranked))
    main = markup.metrics_table(caption, names, summary_rows(measured, ranked=ranked))
    told = [
        markup.paragraph(warning, "none")
        for warning in (*_strangers(schedules[0], found), *_others(marks, schedules[0], found))
    ]
    return [*told, main, f"<details><summary>More figures</summary>{rest}</details>"]


def warnings(schedules: Sequence[Schedule]) -> list[str]:
    """A line for each run of another workload than the first: its jobs are not compared."""
    return _strangers(schedules[0], [compare(schedules[0], other) for other in schedules[1:]])


def _strangers(first: Schedule, found: Sequence[Difference]) -> list[str]:
    told = []
    for each in found:
        if not each.comparable:
            others, both = grouped(each.strangers, NARROW_BLANK), _count(each.shared + each.strangers, "job id")
            told.append(
                f"{first.name} and {each.name} are of different workloads: {others} of the {both} "
                "they share mean jobs of another submission or size; they are not compared job by job"
            )
    return told


def _others(marks: Sequence[JobMarks], first: Schedule, found: Sequence[Difference]) -> Iterator[str]:
    """Which runs of the same workload have figures of other jobs than the first run."""
    why = {"ran": "their figures are of different jobs, none is marked as the best", "succeeded": "compare with care"}
    for what, told in why.items():
        differing = zip(found, marks[1:], strict=True)
        others = [run.name for run, mine in differing if run.comparable and other_jobs(mine, marks[0]) == what]
        if others:
            yield f"Not the same jobs {what} under {' and '.join(others)} as under {first.name}: {told}."


def _table_caption(names: Sequence[str], *, ranked: bool) -> str:
    if len(names) == 1:
        return "Figures of the run"
    return f"Below each figure: how it differs from {names[0]}." + (" ★ marks the best of a row." if ranked else "")


def _differences(schedules: Sequence[Schedule], compared: Sequence[Difference], content: Content) -> list[str]:
    found = [each for each in compared if each.comparable]
    if not found:
        return []
    first, numbers = schedules[0], number_jobs(schedules)
    fates = [fate for fate in Fate if any(difference.counts[fate] for difference in found)]
    rows = [[escape(fate), *(grouped(difference.counts[fate], NARROW_BLANK) for difference in found)] for fate in fates]
    rows.append(["earlier, summed", *(clock(difference.earlier) for difference in found)])
    rows.append(["later, summed", *(clock(difference.later) for difference in found)])
    counts = markup.plain_table(f"Jobs compared with {first.name}", ["", *(each.name for each in found)], rows)
    moved = [
        _moves(difference, first, content, numbers) for difference in found if difference.gained or difference.lost
    ]
    strangers = [each.name for each in found if not each.shared]
    told = f"No job is in both {first.name} and {', '.join(strangers)}: jobs are compared by their id, workload!name."
    return [markup.grouped([counts, *moved]), markup.paragraph(told, "none") if strangers else ""]


def _moves(difference: Difference, first: Schedule, content: Content, numbers: Mapping[str, int]) -> str:
    def row(move: Move) -> list[str]:
        way = "earlier" if move.seconds < 0 else "later"
        button = markup.job_button(move.job.removeprefix(content.prefix), numbers[move.job])
        return [button, f"{clock(abs(move.seconds))} {way}", clock(move.start)]

    heads = ["job", f"than in {first.name}", f"start in {difference.name}"]
    rows = [row(move) for move in (*difference.gained, *reversed(difference.lost))]
    return markup.plain_table(f"{difference.name}: the jobs that moved most", heads, rows)


def _over_time(schedules: Sequence[Schedule], found: Sequence[Difference], content: Content) -> list[str]:
    if not any(schedule.ran for schedule in schedules):
        return [markup.paragraph("No job ran: there is nothing to draw.", "none")]
    names = [run.name for run in content.runs]
    gantts = [_gantt(number, schedule) for number, schedule in enumerate(schedules)]
    modes = [("job", "job"), ("wait", "wait")]
    if any(each.comparable for each in found):
        modes.insert(1, ("difference", f"difference from {names[0]}"))
    if len(content.states) > 1:
        modes.append(("state", "final state"))
    options = "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in modes)
    drawn = any(run.sets for run in content.runs)
    return [
        TOOLBAR.format(options=options),
        KEYS if drawn else "",
        '<ul class="legend" id="colours"></ul>' if drawn else "",
        *gantts,
        '<div id="chosen" class="wide"></div>',
        markup.run_legend(names, dashed=False),
        *_lines(schedules, content),
    ]


def _gantt(number: int, schedule: Schedule) -> str:
    told = _size(len(schedule.ran), schedule.hosts)
    if not schedule.ran:
        return f"<h3>{escape(schedule.name)}</h3>{markup.paragraph('No Gantt chart: no job ran.', 'none')}"
    if not schedule.hosts_known or not schedule.hosts:
        why = "No Gantt chart: the file tells how many hosts each job had, but not which."
        return f"<h3>{escape(schedule.name)}</h3>{markup.paragraph(why, 'none')}"
    alternative = f"{schedule.name}: {told}, hosts upwards, time to the right"
    return markup.gantt(number, schedule.name, told, alternative)


def _lines(schedules: Sequence[Schedule], content: Content) -> list[str]:
    over = f"until {clock(max(record.finish for schedule in schedules for record in schedule.ran))}"
    charts = [
        markup.chart("busy", "Utilisation", "hosts allocated to jobs", f"share of busy hosts over time, {over}"),
        markup.chart(
            "queue", "Queue", "jobs submitted and not yet started", f"number of waiting jobs over time, {over}"
        ),
    ]
    if any(run.power for run in content.runs):
        charts.append(markup.chart("power", "Power", "of all hosts", f"power over time, {over}"))
    for number, run in enumerate(content.runs):
        if run.machines:
            swatches = "".join(
                f'<li><span class="swatch" style="background:var(--host-{state})"></span>{name}</li>'
                for state, name in enumerate(content.machine_states)
            )
            title = f"Host states: {run.name}"
            charts.append(markup.chart(f"hosts-{number}", title, "", f"hosts in each state over time, {over}"))
            charts.append(f'<ul class="legend">{swatches}</ul>')
    return charts


def _distributions(schedules: Sequence[Schedule], names: Sequence[str], bound: float) -> list[str]:
    if not any(schedule.ran for schedule in schedules):
        return []
    share = "share of jobs with at most this"
    waits = markup.chart("waits", "Wait", "below 1 s at the left edge", f"{share} wait")
    slowdowns = markup.chart(
        "slowdowns", "Bounded slowdown", f"runs below {bound:g} s count as {bound:g} s", f"{share} bounded slowdown"
    )
    return [markup.run_legend(names, dashed=True), f'<div class="pair">{waits}{slowdowns}</div>']


def _rejected(schedules: Sequence[Schedule]) -> list[str]:
    tables = []
    for schedule in schedules:
        rejected = [record for record in schedule.jobs if record.rejected]
        if not rejected:
            continue
        rows = [
            [escape(record.job.id), str(record.job.size), clock(record.job.submit_time), escape(record.metadata)]
            for record in rejected[:MOST_REJECTED]
        ]
        more = len(rejected) - len(rows)
        caption = f"{schedule.name}: {_count(len(rejected), 'job')}" + (
            f", the first {len(rows)} of them" if more else ""
        )
        tables.append(markup.plain_table(caption, ["job", "size", "submitted", "metadata"], rows))
    return tables


def _notes(schedules: Sequence[Schedule], bound: float) -> list[str]:
    told = []
    for schedule in schedules:
        version = schedule.batsim_row.get("batsim_version", "")
        lines = [f"read from {schedule.source}" + (f", written by {version}" if version else ""), *schedule.notes]
        told.append(f"<dt>{escape(schedule.name)}</dt><dd>{'<br>'.join(map(escape, lines))}</dd>")
    return [f"<dl>{''.join(told)}</dl>", "<h3>Definitions</h3>", DEFINITIONS.format(bound=f"{bound:g}")]
