"""Workers of Dask: those of a scheduler that runs already, or jobs of a batch system.

Dask starts workers, sends each input to the workers that need it, and reassigns the work of a worker that died.
Scheduler and workers exchange pickles: anyone who can connect to them can run code.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count, islice
from typing import Any, Final

from batsched_py.builds import code_digest
from batsched_py.campaigns.execution.batch_run import run_batch
from batsched_py.campaigns.execution.batches import Batch, FinishedRun
from batsched_py.campaigns.execution.stored_run import encode_run, stored
from batsched_py.campaigns.execution.worker_place import CLUSTERS, WorkerPlace
from batsched_py.errors import BatschedError, OptionError, TransportError
from batsched_py.loading import require
from batsched_py.text.display import displayed
from batsched_py.traces.lublin import Drawn

#: Batches that wait at the scheduler for each worker, and at least, because workers come later.
_AHEAD: Final = 4
_LEAST_AHEAD: Final = 64
#: Dask does not log failures that it recovers from, and does not profile the workers, which costs 5 % of the time.
_CONFIGURATION: Final = {
    "logging.distributed": "critical",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
}
#: For the HTTP pages of Dask, which cannot be left out.
_ANY_PORT: Final = "127.0.0.1:0"
_NO_DASHBOARD: Final[Mapping[str, Any]] = {"dashboard": False, "dashboard_address": _ANY_PORT}
#: Seconds to wait for a scheduler to answer.
_PATIENCE: Final = "20s"


class DaskWorkers:
    """Workers that execute batches."""

    def __init__(self, client: Any, expected: int) -> None:
        self._client = client
        self._expected = expected
        #: id of an input -> the input and its future, as long as batches may need it.
        self._inputs: dict[int, tuple[object, Any]] = {}
        self._numbers = count()

    @property
    def count(self) -> int:
        """The number of workers: the connected ones, or the expected ones if there are more."""
        return max(len(self._client.nthreads()), self._expected)

    def run(self, batches: Iterable[Batch]) -> Generator[tuple[Batch, list[FinishedRun]], None, None]:
        """Execute batches and yield them in the order in which they end. A run that kills its worker has failed.

        TransportError if a worker cannot execute runs, because it has no batsched-py or another version.
        """
        distributed: Any = importlib.import_module("distributed")
        left = iter(batches)
        running: dict[Any, Batch] = {}
        ending = distributed.as_completed(loop=self._client.loop)
        ahead = self._ahead()
        for number, future in enumerate(self._ended(ending, left, running, ahead)):
            batch = running.pop(future)
            more = list(islice(left, max(ahead - len(running), 0)))
            try:
                yield batch, future.result()
            except distributed.KilledWorker:
                if len(batch.runs) > 1:
                    more += batch.singles  # to find the one that killed it
                else:
                    yield batch, [_killed(batch)]
            except Exception as error:  # the worker may lack any module
                raise _unfit(error) from error
            future.release()
            self._add(more, running, ending)
            if number % _LEAST_AHEAD == 0:
                ahead = self._ahead()

    def _ended(self, ending: Any, left: Iterator[Batch], running: dict[Any, Batch], ahead: int) -> Iterator[Any]:
        """Submit the first batches, and yield futures as they end."""
        self._add(list(islice(left, ahead)), running, ending)
        yield from ending

    def _ahead(self) -> int:
        """Return the number of batches to queue at the scheduler, so that no worker waits for one."""
        return max(self.count * _AHEAD, _LEAST_AHEAD)

    def _add(self, batches: Iterable[Batch], running: dict[Any, Batch], ending: Any) -> None:
        for batch in batches:
            environment = self._input_future(batch.environment)
            workload = batch.workload if isinstance(batch.workload, Drawn) else self._input_future(batch.workload)
            name = self._name("runs")
            future = self._client.submit(
                run_batch,
                environment,
                workload,
                batch.specs,
                jobs=batch.jobs,
                code=code_digest(),
                limits=batch.limits,
                key=name,
                pure=False,
            )
            running[future] = batch
            ending.add(future)

    def _input_future(self, thing: object) -> Any:
        """Return a future of an input, which the scheduler can send to further workers even if one of them dies."""
        if id(thing) not in self._inputs:
            future = self._client.submit(_itself, thing, key=self._name("input"), pure=False)
            self._inputs[id(thing)] = thing, future
        return self._inputs[id(thing)][1]

    def _name(self, kind: str) -> str:
        return f"{kind}-{os.getpid()}-{next(self._numbers)}"


def _itself(thing: object) -> object:
    return thing


def _killed(batch: Batch) -> FinishedRun:
    [spec] = batch.specs
    return FinishedRun(encode_run(stored(spec.failed("its worker died in the middle of the run, several times"))))


def _unfit(error: Exception) -> TransportError:
    """Return the error for a worker that cannot execute runs."""
    if isinstance(error, BatschedError):
        return TransportError(str(error))
    return TransportError(f"a worker failed: {displayed(f'{type(error).__name__}: {error}')}")


@contextmanager
def dask_workers(place: WorkerPlace, use: str) -> Iterator[DaskWorkers]:
    """Yield the workers of a place that needs Dask; they are stopped at the end, unless their scheduler ran before.

    `use` names what needs Dask, for the message of ExtraError. OptionError for an incomplete configuration,
    TransportError if the scheduler does not answer.
    """
    require("distributed", use, "campaign")
    importlib.import_module("dask.config").set(_CONFIGURATION)  # read by the next import
    distributed: Any = importlib.import_module("distributed")
    with ExitStack() as stack:
        if place.scheduler is not None:
            address: Any = place.scheduler
        else:
            address = stack.enter_context(_cluster(place, use))
        try:
            client = stack.enter_context(distributed.Client(address, timeout=_PATIENCE, set_as_default=False))
        except (OSError, TimeoutError, ValueError) as error:
            raise TransportError(f"scheduler {address}: {displayed(str(error))}") from error
        yield DaskWorkers(client, place.count)


@contextmanager
def _cluster(place: WorkerPlace, use: str) -> Iterator[Any]:
    """Submit jobs to a batch system, configured by dask-jobqueue's own files. OptionError, ExtraError."""
    require("dask_jobqueue", use, "campaign")
    jobqueue: Any = importlib.import_module("dask_jobqueue")
    kind = getattr(jobqueue, CLUSTERS[str(place.cluster)])
    options = importlib.import_module("dask.config").get(f"jobqueue.{place.cluster}.scheduler-options", {})
    try:
        cluster = kind(scheduler_options={**_NO_DASHBOARD, **options})
    except (ValueError, TypeError) as error:
        raise OptionError(f"--cluster {place.cluster}: {displayed(str(error))}") from error
    with cluster:
        cluster.scale(jobs=place.count)
        yield cluster
