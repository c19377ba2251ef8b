"""Cache of descriptors, which are checked and later submitted, but read only once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from batsched_py.experiments.deployment_order import deployment_order
from batsched_py.experiments.model import Experiment, PlannedResource
from batsched_py.experiments.parsing.descriptor import read_descriptor
from batsched_py.experiments.validation import Situation

#: Maximum number of cached descriptors, and their maximum total size in bytes.
_MOST: Final = 64
_MOST_BYTES: Final = 4_000_000
#: Minimum size in bytes of a cached descriptor.
_SMALL: Final = 1000


class ReadExperiment(Struct, frozen=True):
    """A valid experiment.

    Attributes:
        experiment: experiment of the descriptor.
        order: its resources in the order of their deployment.
        notes: a line for each part of the descriptor without effect.
    """

    experiment: Experiment
    order: Sequence[PlannedResource]
    notes: Sequence[str]


class DescriptorReader:
    """A reader of descriptors; `read` reuses the results of `check`. Both may be called in different threads.

    Args:
        check: raises ValueError if the programs of an experiment are wrong.
    """

    def __init__(self, check: Callable[[Sequence[PlannedResource]], None]) -> None:
        self._check = check
        #: (content, instant of second 0) -> the situation and the experiment; only experiments without a start time.
        self._checked: OrderedDict[tuple[bytes, datetime | None], tuple[Situation, ReadExperiment]] = OrderedDict()

    def check(self, content: bytes, situation: Situation, origin: datetime | None, place: str) -> ReadExperiment:
        """Return the experiment of a descriptor before its submission. DescriptorError, ValueError."""
        found = self._read(content, situation, origin, place)
        if found.experiment.start is None and len(content) >= _SMALL:
            self._checked[content, origin] = _at_any_time(situation), found
            while len(self._checked) > _MOST or sum(len(key[0]) for key in list(self._checked)) > _MOST_BYTES:
                self._checked.popitem(last=False)
        return found

    def read(self, content: bytes, situation: Situation, origin: datetime | None, place: str) -> ReadExperiment:
        """Return the experiment of a submitted descriptor. DescriptorError, ValueError."""
        checked = self._checked.pop((content, origin), None)
        if checked is not None and checked[0] == _at_any_time(situation):
            return checked[1]
        return self._read(content, situation, origin, place)

    def _read(self, content: bytes, situation: Situation, origin: datetime | None, place: str) -> ReadExperiment:
        notes = list[str]()
        experiment = read_descriptor(place, content, situation, origin=origin, warn=notes.append)
        order = deployment_order(experiment)
        self._check(order)
        return ReadExperiment(experiment, order, notes)


def _at_any_time(situation: Situation) -> Situation:
    return Situation(situation.testbed, 0.0, situation.reservations)
