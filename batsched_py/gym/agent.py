"""An agent as an algorithm: what it learnt decides in a simulation, or beside real Batsim."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

from batsched_py.campaigns.inputs import PlatformLike, WorkloadLike
from batsched_py.gym.actions import Actions, Mask
from batsched_py.gym.environment import WINDOW, ScheduleEnv
from batsched_py.gym.episodes import Episodes
from batsched_py.gym.observations import Observation, QueueWindow
from batsched_py.gym.pick_job import PickJob
from batsched_py.gym.question import Shape
from batsched_py.gym.rewards import BoundedSlowdown, Reward
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import DEFAULTS

Options = TypeVar("Options")


class Agent(Scheduler[Options]):
    """An algorithm that answers the questions of an environment. Subclass it, and write `choose`.

    It sees and decides by the same code as in the environment, so that it answers alike wherever it runs.

    Attributes:
        observation: what it sees.
        actions: what it decides.
        window: the number of waiting jobs that are shown at most.
    """

    observation: ClassVar[Observation] = QueueWindow()
    actions: ClassVar[Actions] = PickJob()
    window: ClassVar[int] = WINDOW
    reads_waits = True  # as any observation may show them

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
        """Return an environment to learn in, which shows and asks what this agent will be shown and asked."""
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
        """Return the action: an answer to what is seen, of those that the mask has."""

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
