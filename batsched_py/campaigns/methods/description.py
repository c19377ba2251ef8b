"""The methods of a study in words, with citations: what was simulated, how it was measured and compared."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

import batsched_py
from batsched_py.campaigns.bootstrap import FEW
from batsched_py.campaigns.methods.definitions import DEFINITIONS
from batsched_py.campaigns.methods.forms import PaperForm, form_of
from batsched_py.campaigns.methods.path_names import PathNames
from batsched_py.campaigns.methods.references import bibliography, keys_for
from batsched_py.campaigns.series import SeriesPart, dimensions
from batsched_py.campaigns.study import Study
from batsched_py.campaigns.variant import Variant
from batsched_py.files.atomic_file import write_atomically
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.results.run_file import OtherFile, WorkloadFile, content_hash
from batsched_py.schedulers import BUILT_INS
from batsched_py.text.wording import counted, grouped, spelled

#: Keys of a model's parameters that are no parameters of the distribution.
_NAMES: Final = ("model", "seed")


class Methods(Struct, frozen=True):
    """The content of the paragraphs.

    Attributes:
        parts: the comparisons, with the runs.
        code: algorithm -> its files.
        settings: settings of the simulator that differ from their defaults.
        simulators: names of the simulators: "embedded", "batsim".
        clock: the times that decisions take, as after --clock.
        names: the names of files.
    """

    parts: Sequence[SeriesPart]
    code: Mapping[str, Sequence[OtherFile]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    simulators: Sequence[str] = ("embedded",)
    clock: Sequence[str] = ("zero",)
    names: PathNames = PathNames()


class MethodsText(Struct, frozen=True):
    """The paragraphs, and the keys of what they cite."""

    text: str
    keys: tuple[str, ...]


def changed_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that differ from their defaults; external events by their number, signals by their units."""
    changed = {
        name: value
        for name in settings.__struct_fields__
        if (value := getattr(settings, name)) != getattr(DEFAULTS, name)
    }
    if "external_events" in changed:
        changed["external_events"] = len(settings.external_events)
    for name in ("carbon", "price"):
        if name in changed:
            changed[name] = changed[name].unit
    return changed


def write_methods(path: Path, methods: Methods) -> None:
    """Write the paragraphs to a .tex or .md file, and their sources to the .bib file of this name.

    OptionError for another suffix, OSError.
    """
    found = methods_text(methods, form_of(path))
    write_atomically(path, found.text.encode())
    write_atomically(path.with_suffix(".bib"), bibliography(found.keys).encode())


def methods_text(methods: Methods, form: PaperForm) -> MethodsText:
    """Return the paragraphs in a form; the same study gives the same text."""
    writer = _Writer(form)
    sections = (
        ("Simulation", _simulation), ("Algorithms", _algorithms), ("Workloads", _workloads), ("Metrics", _metrics),
        ("Statistics", _statistics),
    )  # fmt: skip
    paragraphs = [form.paragraph(title, list(make(writer, methods))) for title, make in sections]
    return MethodsText("\n".join(paragraphs), tuple(writer.cited))


class _Writer:
    """A form that remembers what was cited."""

    def __init__(self, form: PaperForm) -> None:
        self.text, self.code, self._form = form.text, form.code, form
        #: Key of an entry that was cited, in the order of the first citations.
        self.cited: dict[str, None] = {}

    def cite(self, *purposes: str) -> str:
        """Return a citation of all that is cited for these purposes; "" if there is nothing."""
        keys = list(dict.fromkeys(key for purpose in purposes for key in keys_for(purpose)))
        self.cited |= dict.fromkeys(keys)
        return self._form.cite(keys)

    def codes(self, plain: Iterable[str]) -> str:
        """Return a list of names."""
        return ", ".join(self.code(one) for one in plain)


def _studies(methods: Methods) -> list[Study]:
    return [part.comparison.study for part in methods.parts]


def _simulation(to: _Writer, methods: Methods) -> Iterator[str]:
    version = to.text(f"batsched-py {batsched_py.__version__}")
    python = to.text(f"Python {platform.python_version()}")
    yield f"Decisions were made by {version}{to.cite('software')} under {python}."
    names = {
        "embedded": "its embedded simulator, which follows the semantics of Batsim", "batsim": "Batsim",
    }  # fmt: skip
    yield f"The jobs were simulated by {' and by '.join(names[one] for one in methods.simulators)}{to.cite('batsim')}."
    for file in dict.fromkeys(study.platform for study in _studies(methods) if study.platform is not None):
        hosts = {
            outcome.metrics.hosts
            for study in _studies(methods)
            if study.platform == file
            for outcome in study.outcomes
            if outcome.metrics is not None
        }
        size = f", {counted(max(hosts), 'host')}" if hosts else ""
        yield f"Platform: {to.code(methods.names.of(file.path))}{size}, SHA-256 {to.code(file.sha256 or 'unknown')}."
    clocks = {"zero": "Decisions take no simulated time."}
    for clock in methods.clock:
        yield clocks.get(clock) or to.text(f"The time that decisions take is that of the clock {clock}.")
    if methods.settings:
        changed = [f"{name}={spelled(value)}" for name, value in methods.settings.items()]
        yield f"Settings of the simulator that differ from their defaults: {to.codes(changed)}."


def _algorithms(to: _Writer, methods: Methods) -> Iterator[str]:
    studies = _studies(methods)
    for variant in studies[0].variants:
        options = next((one.options for study in studies for one in study.of(variant.name) if one.options), {})
        yield f"{_subject(to, variant)} {_options(to, options, methods.names)}."
        for file in methods.code.get(variant.name, ()):
            digest = to.code(file.sha256 or "unknown")
            yield f"Its file ({to.text(file.role)}) is {to.code(methods.names.of(file.path))}, SHA-256 {digest}."
    yield f"All are compared with {to.code(methods.parts[0].comparison.baseline)}."


def _subject(to: _Writer, variant: Variant) -> str:
    """Return the name of an algorithm with its sources; their text if there is no entry of BibTeX for them."""
    scheduler = variant.scheduler
    sources = to.cite(f"algorithm:{variant.algorithm}") if str(variant.algorithm) in BUILT_INS else ""
    about = f" ({to.text(scheduler.source.rstrip('.'))})" if scheduler.source and not sources else ""
    known = f"algorithm {to.code(scheduler.name)}{sources}{about}"
    return f"The {known}" if variant.name == scheduler.name else f"{to.code(variant.name)} is the {known}, and"


def _options(to: _Writer, options: Mapping[str, Any], names: PathNames) -> str:
    given = [f"{name}={names.of(spelled(value))}" for name, value in options.items() if value != ""]
    return f"has the options {to.codes(given)}" if given else "has no options"


def _workloads(to: _Writer, methods: Methods) -> Iterator[str]:
    names = dimensions(methods.parts)
    if names:
        groups = "; ".join(to.code(part.name) for part in methods.parts)
        yield f"The algorithms are compared separately for each of {len(methods.parts)} groups of workloads: {groups}."
    origins: dict[tuple[str, str], WorkloadFile] = {}
    for study in _studies(methods):
        for name, one in study.origins.items():  # seeds of algorithms repeat a workload under other names
            origins[name.partition("-seed-")[0] if study.seeds else name, one.path] = one
    drawn = [one for one in origins.values() if one.generator]
    files: dict[str, list[WorkloadFile]] = {}
    for one in origins.values():
        if not one.generator:
            files.setdefault(one.path, []).append(one)
    if drawn:
        yield _model(to, drawn)
    for path, parts in files.items():
        yield _file(to, path, methods.names.of(path), parts)
    base = methods.parts[0].comparison.baseline
    counts = [outcome.metrics for study in _studies(methods) for outcome in study.of(base)]
    jobs = [one.jobs for one in counts if one is not None]
    if jobs:
        extent = str(min(jobs)) if min(jobs) == max(jobs) else f"{min(jobs)} to {max(jobs)}"
        yield to.text(f"A workload has {extent} jobs; all {len(jobs)} together have {grouped(sum(jobs), ' ')}.")
    seeds = dict.fromkeys(seed for study in _studies(methods) for seed in study.seeds)
    if seeds:
        yield f"Algorithms with random decisions were run with the seeds {to.text(_ranges(list(seeds)))}."


def _model(to: _Writer, drawn: Sequence[WorkloadFile]) -> str:
    """Return a sentence about generated workloads: the values of each parameter, and the seeds."""
    values: dict[str, dict[Any, None]] = {}
    for one in drawn:
        for name, value in one.generator.items():
            if value is not None:
                values.setdefault(name, {})[value] = None
    model = ", ".join(map(str, values.get("model", {"lublin": None})))
    given = (f"{name}={', '.join(map(spelled, found))}" for name, found in values.items() if name not in _NAMES)
    seeds = [seed for seed in values.get("seed", {}) if isinstance(seed, int)]
    return (
        f"{counted(len(drawn), 'workload was', 'workloads were')} generated by the model {to.code(model)}"
        f"{to.cite(f'model:{model}')} with {to.codes(given)} and the seeds {to.text(_ranges(seeds))}."
    )


def _file(to: _Writer, path: str, name: str, parts: Sequence[WorkloadFile]) -> str:
    """Return a sentence about a file of a workload, or about the parts of a log, whose hashes are hashed together."""
    if len(parts) == 1:
        return f"The workload {to.code(name)} has the SHA-256 {to.code(parts[0].sha256 or 'unknown')}."
    digest = sha256("".join(f"{one.sha256}\n" for one in parts).encode()).hexdigest()
    whole = content_hash(Path(path)) if Path(path).is_file() else None
    known = "" if whole is None else f", SHA-256 {to.code(whole)}"
    return (
        f"{len(parts)} workloads are parts of {to.code(name)}{known}; the SHA-256 of the list of their own SHA-256 is "
        f"{to.code(digest)}."
    )


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as after --seeds: "1-20, 25"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _metrics(to: _Writer, methods: Methods) -> Iterator[str]:
    comparison = methods.parts[0].comparison
    for one in comparison.metrics:
        better = "more" if one.metric.more_is_better else "less"
        cited = to.cite(f"metric:{one.metric.name}")
        title, what = to.text(one.metric.title), to.text(DEFINITIONS[one.metric.name])
        yield f"The {title}{cited} is the {what}; {better} is better."
    yield "Metrics of jobs do not count rejected jobs."
    window, warm_up = comparison.study.window, comparison.study.warm_up
    if warm_up is not None:
        cited = to.cite("warm-up") if "MSER" in warm_up.rule else ""
        yield (
            f"The warm-up of each run was cut{cited}: {to.text(str(warm_up))}; all algorithms were measured from the "
            "same time on."
        )
    if not window.whole:
        yield to.text(f"Measured were the jobs submitted {window}, and the time of the hosts in this window.")


def _statistics(to: _Writer, methods: Methods) -> Iterator[str]:
    first = methods.parts[0].comparison
    inference, what = first.inference, first.study.observed
    counts = sorted({part.comparison.study.observations for part in methods.parts})
    count = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    yield "One workload is one observation, as its jobs wait for each other; algorithms are paired by workload."
    if counts[-1] == 1:
        yield "With a single observation there are no intervals."
        return
    each = " in each group" if len(methods.parts) > 1 else ""
    yield (
        f"Means are over {count} {what}{each}; their intervals, and those of ratios and differences, are percentile "
        f"bootstraps{to.cite('intervals')} with {first.resamples} resamples at a level of {100 * first.level:g} "
        f"{to.text('%')}."
    )
    if counts[0] < FEW:
        yield f"With fewer than {FEW} {what}, such intervals are too narrow."
    if inference.tests:
        yield (
            f"Effect sizes are matched-pairs rank-biserial correlations{to.cite('effect')}; p values are those of the "
            f"two-sided Wilcoxon signed-rank test{to.cite('signed-rank')}, corrected for "
            f"{counted(inference.family, 'test')} by Holm's procedure{to.cite('holm')}."
        )
    if inference.precision is not None:
        yield (
            f"The number of {what} for a precision of {100 * inference.precision:g} {to.text('%')} of the baseline's "
            f"mean follows from the standard deviation of the paired differences{to.cite('precision')}."
        )
