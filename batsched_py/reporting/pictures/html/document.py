"""The report page: its sections, its data and its scripts in one file that makes no request."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Final

import msgspec

import batsched_py
from batsched_py.reporting.formatting import clock
from batsched_py.reporting.metrics.catalogue import RunMetrics
from batsched_py.reporting.metrics.machine_groups import NO_SIGNALS, EnergySignals
from batsched_py.reporting.metrics.run_metrics import measure_run
from batsched_py.reporting.metrics.same_jobs import JobMarks, marks_of, other_jobs
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.pictures.colouring import HOST_COLOURS
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.pictures.html.assets import asset, template
from batsched_py.reporting.pictures.html.breakdowns import breakdown_parts
from batsched_py.reporting.pictures.html.content import Content, Waits, pack
from batsched_py.reporting.pictures.html.differences import JobChange, MovedJob, RunComparison, compare_runs
from batsched_py.reporting.pictures.html.metric_rows import metrics_table, other_rows, summary_rows
from batsched_py.reporting.pictures.html.rejected_jobs import rejected_tables
from batsched_py.reporting.pictures.html.result import result_parts
from batsched_py.reporting.pictures.html.timelines import timeline_parts
from batsched_py.reporting.pictures.html.waits_by_reason import waiting_parts
from batsched_py.reporting.pictures.window import number_jobs
from batsched_py.reporting.provenance import OPENING, find_differences, provenance_rows
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.reporting.waits.waiting_by_reason import RunExplanation
from batsched_py.text.wording import NARROW_BLANK, counted, grouped

#: Scripts of the page, each using those before it.
SCRIPTS: Final = (
    "words.js", "data.js", "leases.js", "colours.js", "raster.js", "heat.js", "patterns.js", "gantt.js", "view.js",
    "hands.js", "charts.js", "jobs.js", "scrolling.js", "main.js",
)  # fmt: skip


def plotly_js() -> bytes:
    """Read plotly.js, minified, from the installed package plotly. ImportError without the extra `report`."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def report_page(
    schedules: Sequence[Schedule],
    plotly: bytes,
    title: str = "",
    bound: float = SLOWDOWN_BOUND,
    *,
    window: TimeWindow | None = None,
    by: Sequence[str] = (),
    waits: Sequence[Waits] = (),
    explanations: Sequence[RunExplanation] = (),
    signals: Sequence[EnergySignals] = (),
) -> bytes:
    """Return a page that shows schedules, or a window of them, and compares them with the first.

    `by` are members of jobs to group by; by default users, if known. `waits` has, for each schedule, lines that explain
    the waits of some jobs, `explanations` where the waiting of its jobs comes from, and `signals` the carbon intensity
    and the price of its energy.

    The page makes no request: it contains `plotly`, the text of plotly.js. Runs shorter than `bound` seconds count as
    `bound` in bounded slowdowns. The same schedules give the same bytes.
    """
    known = signals or [NO_SIGNALS] * len(schedules)
    measured = [measure_run(schedule, bound, window, one) for schedule, one in zip(schedules, known, strict=True)]
    seen = schedules if window is None else [window.seen(schedule) for schedule in schedules]
    content = pack(schedules, bound, window, waits)
    found = _sections(seen, content, measured, window, by=by, explanations=explanations)
    sections = [(name, title, parts) for name, title, parts in found if parts]
    page = template("page.html").substitute(
        version=escape(batsched_py.__version__),
        title=escape(title or " · ".join(run.name for run in content.runs)),
        style=_host_colours() + asset("page.css"),
        subtitle=markup.paragraph(_subtitle(schedules)) + _subtitle_of(window),
        links="".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in sections),
        sections="\n".join(markup.section(name, title, *parts) for name, title, parts in sections),
        data=_packed(msgspec.json.encode(content)),
        plotly=_packed_library(plotly),
        script="\n".join(map(asset, SCRIPTS)),
    )
    return page.encode()


def _host_colours() -> str:
    light, dark = (
        " ".join(f"--host-{state}: {both[scheme]};" for state, both in enumerate(HOST_COLOURS.values()))
        for scheme in (0, 1)
    )
    return f':root {{ {light} }}\n@media screen {{ :root[data-scheme="dark"] {{ {dark} }} }}\n'


@lru_cache(maxsize=1)
def _packed_library(plotly: bytes) -> str:
    """Compress plotly.js, once for all pages of a process: it takes longer than the rest of a page."""
    return _packed(plotly)


def _packed(data: bytes) -> str:
    """Compress data into characters that need no escaping in HTML."""
    return b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def _sections(
    schedules: Sequence[Schedule],
    content: Content,
    measured: Sequence[RunMetrics],
    window: TimeWindow | None,
    *,
    by: Sequence[str],
    explanations: Sequence[RunExplanation],
) -> list[tuple[str, str, list[str]]]:
    """Return name, title and parts of each section; one without parts is left out of the page."""
    names = [run.name for run in content.runs]
    counted = schedules if window is None else [window.submitted(schedule) for schedule in schedules]
    found, numbers = [compare_runs(counted[0], other) for other in counted[1:]], number_jobs(schedules)
    marks = [marks_of(schedule.jobs, schedule.attempts.firsts) for schedule in counted]
    ranked = all(each.comparable for each in found) and all(each.ran == marks[0].ran for each in marks)
    return [
        ("result", "Result", result_parts(names, measured, explanations, ranked=ranked)),
        ("runs", "What was run", _provenance_tables(schedules)),
        ("summary", "Summary", _summary(counted, found, measured, marks, ranked=ranked)),
        ("waiting", "Where the waiting comes from", waiting_parts(names, explanations)),
        ("over-time", "Over time", _over_time(schedules, found, content)),
        ("differences", "Differences", _differences(counted, found, content, numbers)),
        ("timelines", "Timelines", timeline_parts(schedules)),
        ("distributions", "Distributions", _distributions(counted, names, content.bound)),
        ("groups", "Groups of jobs", breakdown_parts(counted, content.bound, by)),
        ("jobs", "Jobs", _jobs(counted)),
        ("rejected", "Rejected jobs", rejected_tables(counted)),
        ("notes", "Notes", _notes(schedules, content.bound)),
    ]


def _provenance_tables(schedules: Sequence[Schedule]) -> list[str]:
    """Return the descriptions of the runs, and reasons why some cannot be compared; empty if no run has one."""
    described = provenance_rows(schedules)
    if not described:
        return []
    heads = ["", *(schedule.name for schedule in schedules)]
    first, more = (
        [[escape(title), *map(markup.words, cells)] for title, cells in described if (title in OPENING) is opens]
        for opens in (True, False)
    )
    rest = markup.plain_table("The rest of what is known", heads, more, "described")
    return [
        *(markup.paragraph(f"{line}.", "none") for line in find_differences(schedules)),
        markup.plain_table("Algorithms and their input", heads, first, "described"),
        f"<details><summary>More about the runs</summary>{rest}</details>",
    ]


def _subtitle(schedules: Sequence[Schedule]) -> str:
    machines = {(schedule.job_count, schedule.hosts) for schedule in schedules}
    runs = "" if len(schedules) == 1 else f"{len(schedules)} runs: "
    return runs + ", ".join(_size(jobs, hosts) for jobs, hosts in sorted(machines))


def _subtitle_of(window: TimeWindow | None) -> str:
    """Return a description of the measured part of the runs; "" for whole runs."""
    if window is None:
        return ""
    time = f"from {clock(window.begin)} to {clock(window.end)}"
    return markup.paragraph(f"Shown: {time}. Metrics are of the jobs submitted then, and of the hosts' time then.")


def _size(jobs: int, hosts: int) -> str:
    return f"{_count(jobs, 'job')} on {_count(hosts, 'host')}"


def _count(number: int, noun: str) -> str:
    return counted(number, noun, blank=NARROW_BLANK)


def _summary(
    schedules: Sequence[Schedule],
    found: Sequence[RunComparison],
    measured: Sequence[RunMetrics],
    marks: Sequence[JobMarks],
    *,
    ranked: bool,
) -> list[str]:
    names = [schedule.name for schedule in schedules]
    caption = _table_caption(names, ranked=ranked)
    rest = metrics_table(caption, names, other_rows(measured, ranked=ranked))
    main = metrics_table(caption, names, summary_rows(measured, ranked=ranked))
    lines = (*_strangers(schedules[0], found), *_others(marks, schedules[0], found))
    return [
        *(markup.paragraph(line, "none") for line in lines),
        main,
        f"<details><summary>More metrics</summary>{rest}</details>",
    ]


def warnings(schedules: Sequence[Schedule]) -> list[str]:
    """Return a line for each run of another workload than the first: its jobs are not compared."""
    return _strangers(schedules[0], [compare_runs(schedules[0], other) for other in schedules[1:]])


def _strangers(first: Schedule, found: Sequence[RunComparison]) -> list[str]:
    lines = []
    for each in found:
        if not each.comparable:
            others, both = grouped(each.strangers, NARROW_BLANK), _count(each.shared + each.strangers, "job id")
            lines.append(
                f"{first.name} and {each.name} are of different workloads: {others} of the {both} "
                "they share mean jobs of another submission or size; they are not compared job by job"
            )
    return lines


def _others(marks: Sequence[JobMarks], first: Schedule, found: Sequence[RunComparison]) -> Iterator[str]:
    """Yield warnings about runs of the same workload in which other jobs ran than in the first run."""
    hints = {"ran": "their metrics are of different jobs, none is marked as the best", "succeeded": "compare with care"}
    for what, hint in hints.items():
        differing = zip(found, marks[1:], strict=True)
        others = [run.name for run, marked in differing if run.comparable and other_jobs(marked, marks[0]) == what]
        if others:
            yield f"Not the same jobs {what} under {' and '.join(others)} as under {first.name}: {hint}."


def _table_caption(names: Sequence[str], *, ranked: bool) -> str:
    if len(names) == 1:
        return "Metrics of the run"
    return f"Below each metric: how it differs from {names[0]}." + (" ★ marks the best of a row." if ranked else "")


def _differences(
    schedules: Sequence[Schedule],
    compared: Sequence[RunComparison],
    content: Content,
    numbers: Mapping[str, int],
) -> list[str]:
    found = [each for each in compared if each.comparable]
    if not found:
        return []
    first = schedules[0]
    rows = [
        [escape(change), *(grouped(difference.counts[change], NARROW_BLANK) for difference in found)]
        for change in JobChange
        if any(difference.counts[change] for difference in found)
    ]
    rows.append(["earlier, summed", *(clock(difference.earlier) for difference in found)])
    rows.append(["later, summed", *(clock(difference.later) for difference in found)])
    counts = markup.plain_table(f"Jobs compared with {first.name}", ["", *(each.name for each in found)], rows)
    moved = [
        _moves(difference, first, content, numbers) for difference in found if difference.gained or difference.lost
    ]
    strangers = [each.name for each in found if not each.shared]
    hint = f"No job is in both {first.name} and {', '.join(strangers)}: jobs are compared by their id, workload!name."
    return [markup.grouped([counts, *moved]), markup.paragraph(hint, "none") if strangers else ""]


def _moves(difference: RunComparison, first: Schedule, content: Content, numbers: Mapping[str, int]) -> str:
    def row(move: MovedJob) -> list[str]:
        way = "earlier" if move.seconds < 0 else "later"
        button = markup.job_button(move.job.removeprefix(content.prefix), numbers[move.job])
        return [button, f"{clock(abs(move.seconds))} {way}", clock(move.start)]

    heads = ["job", f"than in {first.name}", f"start in {difference.name}"]
    rows = [row(move) for move in (*difference.gained, *reversed(difference.lost))]
    return markup.plain_table(f"{difference.name}: the jobs that moved most", heads, rows)


def _over_time(schedules: Sequence[Schedule], found: Sequence[RunComparison], content: Content) -> list[str]:
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
        template("toolbar.html").substitute(options=options, rows=_row_choice(content)).rstrip(),
        asset("keys.html").rstrip() if drawn else "",
        '<ul class="legend" id="colours"></ul>' if drawn else "",
        markup.pattern_legend(_marks(content)) if drawn else "",
        *gantts,
        '<div id="chosen" class="wide"></div>',
        markup.run_legend(names, dashed=False),
        *_lines(schedules, content),
    ]


def _row_choice(content: Content) -> str:
    """Return the choice between rows of hosts and of GPUs; nothing if no run has GPUs that jobs share."""
    if not any(lanes.rows == "gpu" for run in content.runs for lanes in run.lanes):
        return ""
    options = '<option value="host">hosts</option><option value="gpu">GPUs</option>'
    return f'<label>rows: <select id="rows">{options}</select></label>\n'


def _marks(content: Content) -> list[tuple[str, str]]:
    """Return (kind, name) of the patterns that occur in any run: of leases, slowed jobs and unavailable hosts."""
    there = {kind for run in content.runs if run.leases is not None for kind in run.leases.marks.kind}
    marks = [(content.mark_kinds[kind], content.mark_names[kind]) for kind in sorted(there)]
    if any(run.sets and run.lost for run in content.runs):
        marks.append(("slowed", "time lost to other jobs on the same links and hosts"))
    out = any(run.sets and run.outages.hosts for run in content.runs)
    return [*marks, ("unavailable", "unavailable")] if out else marks


def _gantt(number: int, schedule: Schedule) -> str:
    size = _size(len(schedule.ran), schedule.hosts)
    if not schedule.ran:
        return f"<h3>{escape(schedule.name)}</h3>{markup.paragraph('No Gantt chart: no job ran.', 'none')}"
    if not schedule.hosts_known or not schedule.hosts:
        why = "No Gantt chart: the file has the number of hosts of each job, but not which."
        return f"<h3>{escape(schedule.name)}</h3>{markup.paragraph(why, 'none')}"
    alternative = f"{schedule.name}: {size}, hosts upwards, time to the right"
    return markup.gantt(number, schedule.name, size, alternative)


def _lines(schedules: Sequence[Schedule], content: Content) -> list[str]:
    last = max(record.finish for schedule in schedules for record in schedule.ran)
    begin, end = content.window or (0.0, last)
    over = (f"from {clock(begin)} " if content.window else "") + f"until {clock(end)}"
    charts = [
        markup.chart("busy", "Utilisation", "hosts allocated to jobs", f"fraction of busy hosts over time, {over}"),
        markup.chart(
            "queue", "Queue", "jobs submitted and not yet started", f"number of waiting jobs over time, {over}"
        ),
    ]
    for number, run in enumerate(content.runs):
        if run.resources.names:
            title = f"Resources: {run.name}"
            alternative = f"allocated share of each resource over time, {over}"
            charts.append(markup.chart(f"resources-{number}", title, "allocated to jobs", alternative))
            charts.append(markup.run_legend(run.resources.names, dashed=True))
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
    fraction = "fraction of jobs with at most this"
    waits = markup.chart("waits", "Wait", "below 1 s at the left edge", f"{fraction} wait")
    slowdowns = markup.chart(
        "slowdowns", "Bounded slowdown", f"runs below {bound:g} s count as {bound:g} s", f"{fraction} bounded slowdown"
    )
    return [markup.run_legend(names, dashed=True), f'<div class="pair">{waits}{slowdowns}</div>']


def _jobs(schedules: Sequence[Schedule]) -> list[str]:
    """Return an empty table of all jobs, which a script fills; nothing if no job ran."""
    if not any(schedule.ran for schedule in schedules):
        return []
    options = "".join(f'<option value="{number}">{escape(run.name)}</option>' for number, run in enumerate(schedules))
    return [template("jobs.html").substitute(options=options, hidden="" if len(schedules) > 1 else " hidden").rstrip()]


def _notes(schedules: Sequence[Schedule], bound: float) -> list[str]:
    entries = []
    for schedule in schedules:
        version = schedule.batsim_row.get("batsim_version", "")
        lines = [f"read from {schedule.source}" + (f", written by {version}" if version else ""), *schedule.notes]
        entries.append(f"<dt>{escape(schedule.name)}</dt><dd>{'<br>'.join(map(escape, lines))}</dd>")
    return [
        f"<dl>{''.join(entries)}</dl>",
        "<h3>Definitions</h3>",
        template("definitions.html").substitute(bound=f"{bound:g}").rstrip(),
    ]
