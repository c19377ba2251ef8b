"""The tuner: tries options of an algorithm on all workloads of a campaign, and learns from each trial what to try next.

The search uses Optuna's tree-structured Parzen estimator: J. Bergstra, R. Bardenet, Y. Bengio and B. Kegl,
"Algorithms for hyper-parameter optimization", NIPS 2011. The same seed tries the same options in the same order, so a
search that was stopped can be repeated: it finds its runs in the store and continues.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.campaigns.execution.campaign_runner import Warn, Workers, read_state, run_missing
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.execution.stored_run import StoredRun
from batsched_py.campaigns.execution.user_modules import forgotten_modules
from batsched_py.campaigns.metrics import find_metrics
from batsched_py.campaigns.plan.campaign import AlgorithmSweep, Campaign
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.plan.planner import plan_algorithms
from batsched_py.campaigns.tuning.search_space import Numbers, Space, read_space
from batsched_py.campaigns.tuning.trial import Trial, Tuning
from batsched_py.campaigns.variant import Variant
from batsched_py.errors import ConfigurationError, OptionError, PluginError
from batsched_py.loading import require
from batsched_py.plugins import find_code, load
from batsched_py.reporting.metrics.catalogue import MetricInfo

#: Trials that are drawn at random before the search learns from them.
_RANDOM: Final = 10


def read_tuning(campaign: Campaign) -> Tuning:
    """Return the search that a study file describes. ConfigurationError names the file, the field and the rule."""
    chosen, source = campaign.tuning, str(campaign.source)
    if chosen is None:
        raise ConfigurationError(source, "tune", "is missing: which options of which algorithm shall be tuned?")
    folder = campaign.source.parent
    algorithm = find_code(chosen.algorithm, folder)
    try:
        with forgotten_modules(Variant("", algorithm), str(folder.resolve())):
            scheduler = load(algorithm)
    except PluginError as error:
        raise ConfigurationError(source, "tune.algorithm", str(error)) from error
    try:
        spaces = read_space(scheduler, chosen.options)
    except OptionError as error:
        raise ConfigurationError(source, "tune.options", str(error)) from error
    [metric] = find_metrics([chosen.metric])
    return Tuning(chosen.algorithm, chosen.fixed, spaces, metric, chosen.trials, chosen.seed)


def tune(
    tuning: Tuning,
    plan: CampaignPlan,
    store: RunStore,
    workers: Workers,
    show: Callable[[Trial], None] | None = None,
    *,
    warn: Warn | None = None,
) -> list[Trial]:
    """Execute all trials, one after the other, and return them in their order. Stored runs are not repeated.

    `warn` is called with a line for each damaged file of the store, whose run is repeated.

    ExtraError without Optuna; InputError for files.
    """
    require("optuna", "campaign tune", "tune")
    optuna: Any = importlib.import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=tuning.seed, n_startup_trials=_RANDOM)
    search = optuna.create_study(direction="maximize" if tuning.metric.more_is_better else "minimize", sampler=sampler)
    trials = []
    for number in range(tuning.trials):
        asked = search.ask()
        options = {name: _choose(asked, name, space) for name, space in tuning.spaces.items()}
        planned = _planned(tuning, options, plan)
        trial = _made(Trial(number, options), planned, tuning.metric, store, workers, warn=warn)
        if trial.value is None:
            search.tell(asked, state=optuna.trial.TrialState.FAIL)
        else:
            search.tell(asked, trial.value)
        trials.append(trial)
        if show is not None:
            show(trial)
    return trials


def _choose(asked: Any, name: str, space: Space) -> Any:
    if isinstance(space, Numbers) and space.whole:
        return asked.suggest_int(name, int(space.low), int(space.high), log=space.logarithmic)
    if isinstance(space, Numbers):
        return asked.suggest_float(name, space.low, space.high, log=space.logarithmic)
    return asked.suggest_categorical(name, space.values)


def _planned(tuning: Tuning, options: Mapping[str, Any], plan: CampaignPlan) -> CampaignPlan | str:
    """Return the runs of a trial, or the reason why its options cannot be combined."""
    values = {name: (value,) for name, value in {**tuning.fixed, **options}.items()}
    campaign = replace(plan.campaign, algorithms=(AlgorithmSweep(tuning.algorithm, values),), jobs=False)
    try:
        return plan_algorithms(plan, campaign)
    except ConfigurationError as error:
        return error.rule


def _made(
    trial: Trial, plan: CampaignPlan | str, metric: MetricInfo, store: RunStore, workers: Workers, *, warn: Warn | None
) -> Trial:
    """Execute the missing runs of a trial, and return it with its value."""
    if isinstance(plan, str):
        return replace(trial, error=plan)
    before = read_state(plan, store, warn)
    state = run_missing(before, store, workers, jobs=False, limits=plan.campaign.limits)
    error = next((run.outcome.error for run in state.failed.values()), "")
    return replace(trial, value=_mean(metric, state.done.values(), plan), error=error, made=len(before.missing))


def _mean(metric: MetricInfo, runs: Iterable[StoredRun], plan: CampaignPlan) -> float | None:
    """Return the mean over all runs of a plan; None if one has no value."""
    found = [None if run.outcome.metrics is None else metric.of(run.outcome.metrics) for run in runs]
    values = [value for value in found if value is not None]
    return fmean(values) if values and len(values) == len(plan.keys) else None
