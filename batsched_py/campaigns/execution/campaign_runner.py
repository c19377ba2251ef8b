"""The runner of campaigns: executes the missing runs, and stores each as soon as it has ended."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from typing import Protocol

from msgspec import Struct

from batsched_py.campaigns.execution.batches import Batch, FinishedRun, make_batches
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.execution.stored_run import StoredRun, decode_run
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan, PlannedRun
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits
from batsched_py.errors import InputError

#: A callback for each run that ended.
ShowRun = Callable[[PlannedRun, StoredRun], None]
#: A callback for warnings of one line.
Warn = Callable[[str], None]


class Workers(Protocol):
    """Processes that execute batches."""

    @property
    def count(self) -> int:
        """The number of batches that are executed at a time."""

    def run(self, batches: Iterable[Batch]) -> Generator[tuple[Batch, list[FinishedRun]], None, None]:
        """Execute batches and yield them in the order in which they end; closing the generator stops the workers."""


class CampaignState(Struct, frozen=True):
    """The progress of a campaign.

    Attributes:
        done: key -> the run that ended well.
        failed: key -> the run that failed.
        missing: runs that the store does not have, in the order of the plan.
    """

    done: dict[str, StoredRun]
    failed: dict[str, StoredRun]
    missing: tuple[PlannedRun, ...]

    @property
    def ended(self) -> dict[str, StoredRun]:
        """Key -> the run, failed or not."""
        return self.done | self.failed


def read_state(plan: CampaignPlan, store: RunStore, warn: Warn | None = None) -> CampaignState:
    """Read the runs of a plan that are in the store.

    A run whose file is damaged counts as missing, and `warn` is called with a line that names it.
    """
    jobs = plan.campaign.jobs
    there, with_jobs = store.keys(), store.keys(with_jobs=True) if jobs else set()
    done, failed, missing = {}, {}, []
    for key, run in plan.keys.items():
        found = _sound(store, key, with_jobs=key in with_jobs, warn=warn) if key in there else None
        if found is not None and found.outcome.failed:
            failed[key] = found
        elif found is not None and (not jobs or key in with_jobs):
            done[key] = found
        else:
            missing.append(run)
    return CampaignState(done, failed, tuple(missing))


def _sound(store: RunStore, key: str, *, with_jobs: bool, warn: Warn | None) -> StoredRun | None:
    """Return a run of the store; None if its file, or the wanted file of its jobs, is damaged."""
    try:
        return store.read(key, with_jobs=with_jobs)
    except InputError as error:
        if warn is not None:
            warn(f"{error}; its run counts as missing, and will be made again")
        return None


def forget_failed(plan: CampaignPlan, state: CampaignState, store: RunStore) -> CampaignState:
    """Remove the runs that failed, which are then missing. InputError for a file that cannot be removed."""
    for key in state.failed:
        store.remove(key)
    return CampaignState(state.done, {}, tuple(run for key, run in plan.keys.items() if key not in state.done))


def run_missing(
    state: CampaignState,
    store: RunStore,
    workers: Workers,
    *,
    jobs: bool,
    limits: RunLimits = NO_LIMITS,
    show: ShowRun | None = None,
) -> CampaignState:
    """Execute the missing runs, each within the limits, and return the new state of the campaign.

    InputError for a file.
    """
    done, failed = dict(state.done), dict(state.failed)
    batches = make_batches(state.missing, jobs=jobs, count=len(state.missing), workers=workers.count, limits=limits)
    with closing(workers.run(batches)) as ending:
        for batch, finished in ending:
            for run, one in zip(batch.runs, finished, strict=True):
                store.put(run.key, one.content, one.jobs)
                ended = decode_run(store.folder, one.content)
                (failed if ended.outcome.failed else done)[run.key] = ended
                if show is not None:
                    show(run, ended)
    left = tuple(run for run in state.missing if run.key not in done and run.key not in failed)
    return CampaignState(done, failed, left)
