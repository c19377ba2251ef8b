"""Descriptors that are read once, though they are checked before they are submitted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from batsched_py.experiments.deployment import deployment_order
from batsched_py.experiments.model import Experiment, PlannedResource
from batsched_py.experiments.parsing.descriptor import read_descriptor
from batsched_py.experiments.validation import Situation

#: Descriptors that are kept, and bytes of all of them.
_MOST: Final = 64
_MOST_BYTES: Final = 4_000_000
#: Those whose reading is not worth keeping have fewer bytes.
_SMALL: Final = 1000


class ReadExperiment(Struct, frozen=True):
    """An experiment that keeps all rules.

    Attributes:
        experiment: of the descriptor.
        order: its resources in the order of their deployment.
        notes: lines on what in the descriptor is not obeyed.
    """

    experiment: Experiment
    order: Sequence[PlannedResource]
    notes: Sequence[str]


class DescriptorReader:
    """Reads descriptors; what `check` has read, `read` need not read again. They may be called in two threads.

    Args:
        check: raises ValueError if the programs of an experiment are wrong.
    """

    def __init__(self, check: Callable[[Sequence[PlannedResource]], None]) -> None:
        self._check = check
        #: (content, instant of second 0) -> the situation and what was read; none that begins at an instant.
        self._checked: OrderedDict[tuple[bytes, datetime | None], tuple[Situation, ReadExperiment]] = OrderedDict()

    def check(self, content: bytes, situation: Situation, origin: datetime | None, place: str) -> ReadExperiment:
        """Return the experiment of a descriptor that may be submitted soon. DescriptorError, ValueError."""
        found = self._read(content, situation, origin, place)
        if found.experiment.start is None and len(content) >= _SMALL:
            self._checked[content, origin] = _at_any_time(situation), found
            while len(self._checked) > _MOST or sum(len(key[0]) for key in list(self._checked)) > _MOST_BYTES:
                self._checked.popitem(last=False)
        return found

    def read(self, content: bytes, situation: Situation, origin: datetime | None, place: str) -> ReadExperiment:
        """Return the experiment of a descriptor that is submitted now. DescriptorError, ValueError."""
        checked = self._checked.pop((content, origin), None)
        if checked is not None and checked[0] == _at_any_time(situation):
            return checked[1]
        return self._read(content, situation, origin, place)

    def _read(self, content: bytes, situation: Situation, origin: datetime | None, place: str) -> ReadExperiment:
        notes = list[str]()
        experiment = read_descriptor(place, content, situation, origin=origin, tell=notes.append)
        order = deployment_order(experiment)
        self._check(order)
        return ReadExperiment(experiment, order, notes)


def _at_any_time(situation: Situation) -> Situation:
    return Situation(situation.testbed, 0.0, situation.reservations)
