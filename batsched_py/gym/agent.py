"""An agent as an algorithm: a trained policy makes decisions in a simulation, or for real Batsim."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

from batsched_py.gym.actions import Actions, Mask
from batsched_py.gym.environment import WINDOW, ScheduleEnv
from batsched_py.gym.episodes import Episodes
from batsched_py.gym.observations import Observation, QueueWindow
from batsched_py.gym.pick_job import PickJob
from batsched_py.gym.question import Shape
from batsched_py.gym.rewards import BoundedSlowdown, Reward
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.runs.inputs import PlatformLike, WorkloadLike
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View

Options = TypeVar("Options")


class Agent(Scheduler[Options]):
    """An algorithm that answers the questions of an environment. Subclass it, and write `choose`.

    Observations and actions use the same code as the environment, so that answers are the same in both.

    Attributes:
        observation: its observations.
        actions: its actions.
        window: maximum number of displayed waiting jobs.
    """

    observation: ClassVar[Observation] = QueueWindow()
    actions: ClassVar[Actions] = PickJob()
    window: ClassVar[int] = WINDOW
    reads_waits = True  # because any observation may show them

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.needs_walltime = cls.actions.needs_walltime

    @classmethod
    def environment(
        cls,
        platform: PlatformLike,
        workload: Episodes | WorkloadLike,
        *,
        reward: Reward = BoundedSlowdown(),  # noqa: B008  (it is frozen)
        settings: Settings = DEFAULTS,
    ) -> ScheduleEnv:
        """Return an environment for training, with the observations and actions of this agent."""
        return ScheduleEnv(
            platform,
            workload,
            observation=cls.observation,
            actions=cls.actions,
            reward=reward,
            window=cls.window,
            settings=settings,
        )

    @abstractmethod
    def choose(self, seen: Any, mask: Mask) -> Any:
        """Return the action for an observation, among those in the mask."""

    def setup(self, view: View) -> None:
        """Begin the decisions of the run; an override calls this one."""
        self._shape = Shape(self.window, len(view.hosts))
        self._decisions = self.actions.begin(view, self.window)

    def decide(self, view: View, plan: Plan) -> None:  # noqa: ARG002  (questions have the view)
        """Answer all questions of a message."""
        decisions = self._decisions
        while (question := decisions.next_question(plan)) is not None:
            seen = self.observation.observe(question, self._shape)
            decisions.take(question, self.choose(seen, decisions.mask(question)), plan)
