"""Workers on this machine: a process for each batch, forked from a server that has loaded what runs need."""

from __future__ import annotations

import os
import pickle
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain

import cloudpickle
from msgspec import Struct

from batsched_py.builds import code_digest
from batsched_py.campaigns.execution.batch_run import run_batch
from batsched_py.campaigns.execution.batches import Batch, FinishedRun
from batsched_py.campaigns.execution.stored_run import encode_run, stored
from batsched_py.campaigns.execution.user_modules import runs_user_code
from batsched_py.campaigns.plan.run_spec import RunSpec
from batsched_py.campaigns.processes import run_apart
from batsched_py.campaigns.run_limits import RunLimits

# Dask's workers live as long as the campaign and receive each input once. Here a process ends with its batch: nothing
# that a run leaves behind reaches the next batch, and there is no scheduler, no port and no package to install. A batch
# has up to 50 runs, which share the cost of a fork. Inputs are pickled once and sent as bytes with each batch.
#
# A batch of user code, or with limits, is split: each of its runs has a process of its own, so that its failure or its
# limit affects that run alone. A batch of built-in algorithms whose process dies is split and executed once more, to
# find the run that killed it.


class LocalWorkers:
    """Processes of this machine that execute batches.

    Args:
        count: the number of processes at a time; None for one for each core.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = count or os.cpu_count() or 1

    def run(self, batches: Iterable[Batch]) -> Generator[tuple[Batch, list[FinishedRun]], None, None]:
        """Execute batches, all with the same limits, and yield them in the order in which they end.

        A run that kills its process has failed.
        """
        remaining = _split(batches)
        first = next(remaining, None)
        if first is None:
            return
        inputs, died = _Inputs(), list[Batch]()
        for wanted in (chain([first], remaining), died):
            with closing(self._ended(wanted, inputs, first)) as ending:
                for batch, finished, failure in ending:
                    if finished is not None:
                        yield batch, finished
                    elif len(batch.runs) > 1:
                        died += batch.singles
                    else:
                        [spec] = batch.specs
                        yield batch, [FinishedRun(encode_run(stored(spec.failed(failure))))]

    def _ended(
        self, batches: Iterable[Batch], inputs: _Inputs, first: Batch
    ) -> Generator[tuple[Batch, list[FinishedRun] | None, str], None, None]:
        """Yield batches with their results, as they end; if the process has died, with the reason.

        Limits, and whether jobs are wanted, are those of the first batch.
        """
        preload = [__name__, *(["pyarrow.parquet"] if first.jobs else [])]
        #: Position -> the batch, until it has ended.
        running: dict[int, Batch] = {}

        def pieces() -> Iterator[_Piece]:
            for position, batch in enumerate(batches):
                running[position] = batch
                yield inputs.piece(batch)

        with closing(run_apart(pieces(), self.count, first.limits, preload)) as ending:
            for result in ending:
                yield running.pop(result.position), result.value, result.failure


class _Piece(Struct, frozen=True):
    """A function that executes a batch in its process; inputs are pickled."""

    environment: bytes
    workload: bytes
    specs: tuple[RunSpec, ...]
    jobs: bool
    limits: RunLimits

    def __call__(self) -> list[FinishedRun]:
        """Execute the runs."""
        environment, workload = pickle.loads(self.environment), pickle.loads(self.workload)  # noqa: S301  # our own
        return run_batch(
            environment,
            workload,
            self.specs,
            jobs=self.jobs,
            code=code_digest(),
            limits=self.limits,
            apart=False,
        )


class _Inputs:
    """Pickled platforms, settings and workloads; only the latest of each kind, because batches come in their order."""

    def __init__(self) -> None:
        #: Kind -> the input and its pickle.
        self._latest: dict[str, tuple[object, bytes]] = {}

    def piece(self, batch: Batch) -> _Piece:
        """Return the function that executes a batch."""
        environment = self._pickled("environment", batch.environment)
        workload = self._pickled("workload", batch.workload)
        return _Piece(environment, workload, batch.specs, batch.jobs, batch.limits)

    def _pickled(self, kind: str, thing: object) -> bytes:
        known = self._latest.get(kind)
        if known is None or known[0] is not thing:
            known = self._latest[kind] = thing, cloudpickle.dumps(thing)
        return known[1]


def _split(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield batches whose runs may share a process: user code and limits need one for each run."""
    for batch in batches:
        apart = batch.limits.limited or any(runs_user_code(spec.variant) for spec in batch.specs)
        yield from batch.singles if apart else [batch]
