"""The rows of a campaign's dataset: identity, metrics and provenance of each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import orjson

from batsched_py.campaigns.execution.stored_run import StoredRun
from batsched_py.campaigns.plan.campaign_plan import PlannedRun, Setting
from batsched_py.model.features import Features
from batsched_py.reporting.metrics.catalogue import metric_names
from batsched_py.text.wording import spelled


def run_columns(runs: Iterable[PlannedRun], ended: Mapping[str, StoredRun]) -> dict[str, list[Any]]:
    """Return column -> its values, one for each run that ended, in the order of the plan; None for a missing value.

    The values of a column have one type: truth values, integers, numbers or texts.
    """
    rows = [_row(run, ended[run.key]) for run in runs if run.key in ended]
    names = dict.fromkeys(name for row in rows for name in row)
    order = sorted(names, key=lambda name: _PREFIXES.index(name.partition("_")[0] + "_") if _is_of_study(name) else -1)
    return {name: _alike([row.get(name) for row in rows]) for name in order}


#: Prefixes of the columns that depend on the study, in their order, after all others.
_PREFIXES = ("option_", "generator_", "setting_")


def _is_of_study(name: str) -> bool:
    return name.startswith(_PREFIXES)


def _row(run: PlannedRun, ended: StoredRun) -> dict[str, Any]:
    source, setting, outcome = run.source, run.setting, ended.outcome
    none: dict[str, Any] = dict.fromkeys(metric_names([]))
    return {
        "platform": setting.platform,
        "settings": setting.settings,
        "group": source.group,
        "workload": source.name,
        "seed": _seed(run),
        "algorithm": run.variant.name,
        **(none if outcome.metrics is None else outcome.metrics.by_name),
        "error": outcome.error,
        "exit_code": outcome.exit_code,
        "warnings": "\n".join(outcome.warnings),
        "approximations": "\n".join(outcome.approximations),
        "key": run.key,
        "version": ended.version,
        "python": ended.python,
        "scheduler": run.variant.algorithm,
        "platform_file": setting.file.path,
        "platform_sha256": setting.file.sha256,
        "workload_file": source.origin.path,
        "workload_sha256": source.origin.sha256,
        "log_start": None if source.origin.log_start is None else source.origin.log_start.isoformat(),
        "all_settings": _settings_text(setting, outcome.features),
        **{f"option_{name}": value for name, value in run.options.items()},
        **{f"generator_{name}": value for name, value in source.origin.generator.items()},
        **{f"setting_{name}": _plain(value) for name, value in setting.given.items()},
    }


def _seed(run: PlannedRun) -> int | None:
    """Return the seed of a run: that of the algorithm, or else that of its workload."""
    if run.seed is not None:
        return run.seed
    drawn = run.source.origin.generator.get("seed")
    return drawn if isinstance(drawn, int) else None


def _settings_text(setting: Setting, features: Features | None) -> str:
    """Return all settings of a run as JSON, those from files by the SHA-256 of their file.

    `features` are those that Batsim 5 was asked for.
    """
    one = setting.identity
    others: dict[str, Any] = {"clock": one.clock, "simulator": one.simulator, "window": one.window}
    if one.warm_up_jobs:
        others["warm_up_jobs"] = one.warm_up_jobs
    described = {**one.settings, **others, "events_sha256": setting.events_sha256}
    described |= {f"{name}_sha256": digest for name, digest in setting.signals_sha256.items()}
    if features is not None:
        described["features"] = features
    return orjson.dumps(msgspec.to_builtins(described), option=orjson.OPT_SORT_KEYS).decode()


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else orjson.dumps(value).decode()


def _alike(values: list[Any]) -> list[Any]:
    """Return the values unchanged if they have one type or are numbers; else as texts."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return values
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else spelled(value) for value in values]
