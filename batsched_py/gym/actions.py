"""The interface of actions: the form of an answer, and its effect on a plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from batsched_py.gym.question import Question, Shape
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View

#: 1 for valid actions, 0 for invalid ones, the format of `Discrete.sample` in Gymnasium.
Mask = NDArray[np.int8]


class Decisions(ABC):
    """The decisions of one run: questions, and the conversion of answers into calls of the Plan."""

    @abstractmethod
    def next_question(self, plan: Plan) -> Question | None:
        """Execute everything that needs no answer; return the next question, None if there is none now."""

    @abstractmethod
    def mask(self, question: Question) -> Mask:
        """Return the mask of valid answers to a question."""

    @abstractmethod
    def take(self, question: Question, action: Any, plan: Plan) -> None:
        """Apply the answer to a question; any element of the space is accepted, since not all agents use masks."""


class Actions(ABC):
    """A selectable kind of actions for an environment. Subclasses are frozen dataclasses."""

    @property
    def needs_walltime(self) -> bool:
        """True if jobs without a walltime must be rejected."""
        return False

    @abstractmethod
    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return the space of the answers."""

    @abstractmethod
    def begin(self, view: View, window: int) -> Decisions:
        """Begin a run after its hosts are known; questions show at most `window` jobs. OptionError."""
