"""The contract of actions: what an answer looks like, and what becomes of it in a plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from batsched_py.gym.question import Question, Shape
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View

#: 1 where an action may be taken, 0 where it may not, as `Discrete.sample` of Gymnasium takes it.
Mask = NDArray[np.int8]


class Decisions(ABC):
    """The decisions of one run: asks for answers, and turns them into verbs of the Plan."""

    @abstractmethod
    def next_question(self, plan: Plan) -> Question | None:
        """Do all that needs no answer; return what must be decided next, None if nothing has to be now."""

    @abstractmethod
    def mask(self, question: Question) -> Mask:
        """Return which answers a question has."""

    @abstractmethod
    def take(self, question: Question, action: Any, plan: Plan) -> None:
        """Take the answer to a question; any that the space has, since not all agents know of masks."""


class Actions(ABC):
    """A kind of actions that is to be chosen for an environment. Subclasses are frozen dataclasses."""

    @property
    def needs_walltime(self) -> bool:
        """True if jobs without a walltime must be rejected."""
        return False

    @abstractmethod
    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return the space of the answers."""

    @abstractmethod
    def begin(self, view: View, window: int) -> Decisions:
        """Begin a run, whose hosts are known; questions show `window` jobs at most. OptionError."""
