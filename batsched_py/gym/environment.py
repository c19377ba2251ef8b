"""The environment of Gymnasium: an episode is a workload, a step is a decision."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

import gymnasium
import numpy as np
from msgspec.structs import asdict, replace
from numpy.typing import NDArray

from batsched_py.errors import OptionError, WorkloadError
from batsched_py.gym.actions import Actions
from batsched_py.gym.episode import Episode
from batsched_py.gym.episodes import Episodes, as_episodes
from batsched_py.gym.observations import Observation, QueueWindow
from batsched_py.gym.pick_job import PickJob
from batsched_py.gym.question import Shape
from batsched_py.gym.rewards import BoundedSlowdown, EpisodeRewards, Reward
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.runs.inputs import PlatformLike, WorkloadLike, as_platform, as_workload, origin_of, platform_origin
from batsched_py.runs.run_description import Decider, RunInputs, RunOrigin, plain_settings
from batsched_py.runs.simulated_run import SimulatedRun, simulated_run
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

#: Default maximum number of displayed jobs, as in RLScheduler.
WINDOW = 128
#: The option of `reset`.
_WORKLOAD: Final = "workload"
#: Attributes that a copy recreates.
_OF_EPISODES: Final = frozenset({"_episode", "_rewards", "_played"})


class ScheduleEnv(gymnasium.Env[Any, Any]):
    """Batsim and the decision process in one environment; the agent makes the decisions.

    Each step uses the messages, the checks and the state of `batsched-py simulate`. An episode ends with the last job;
    none is truncated. `info` contains the time (`now`, in seconds), the number of `waiting` jobs and the
    `action_mask`; at the end also `metrics`, the numbers that `simulate` shows.

    Args:
        platform: a SimGrid file, or a platform.
        workload: a Batsim file, a workload or a model, the same in each episode; or `Episodes`.
        observation: observations of the agent.
        actions: actions of the agent.
        reward: reward of the agent.
        window: maximum number of displayed waiting jobs.
        settings: the options of `batsched-py simulate`; messages take no time, and the protocol is v4.
        render_mode: None; Gymnasium requires the parameter, but nothing is drawn during an episode.

    An environment can be copied and pickled: a copy repeats the actions of the episode to reach the same state.

    Errors are those of `simulate`, in the constructor, in `reset` and in `step`.
    """

    def __init__(
        self,
        platform: PlatformLike,
        workload: Episodes | WorkloadLike,
        *,
        observation: Observation = QueueWindow(),  # noqa: B008  (it is frozen, as the next ones)
        actions: Actions = PickJob(),  # noqa: B008
        reward: Reward = BoundedSlowdown(),  # noqa: B008
        window: int = WINDOW,
        settings: Settings = DEFAULTS,
        render_mode: str | None = None,
    ) -> None:
        if window < 1:
            raise OptionError(f"window: must be at least 1, not {window}")
        if render_mode is not None:
            advice = "env.unwrapped.run.gantt() draws an episode that is over"
            raise OptionError(f"render_mode: must be None, not {shown(render_mode)}: {advice}")
        self.render_mode = render_mode
        self._platform, self._episodes = as_platform(platform), as_episodes(workload)
        self._platform_file = platform_origin(platform)
        self._settings = replace(settings, roles=dict(settings.roles))  # a picklable type
        self._observation, self._actions, self._reward = observation, actions, reward
        hosts = len(self._platform.compute_hosts(settings.master_host)[: settings.machines])
        self._shape = Shape(window, hosts)
        self.observation_space = observation.space(self._shape)
        self.action_space = actions.space(self._shape)
        self._episode: Episode | None = None
        #: The workload of the latest episode, and the actions so far.
        self._played: tuple[Workload, list[Any]]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: new seed of the source of workloads; None to continue its sequence.
            options: {"workload": a workload, or a file with one} selects the workload of this episode; no other keys.
        """
        if options is not None and not isinstance(options, dict):
            raise OptionError(f"options of reset: must be a dict or None, not {shown(options)}")
        for name in options or {}:
            if name != _WORKLOAD:
                raise OptionError(f"options of reset: {unknown(str(name), [_WORKLOAD])}")
        super().reset(seed=seed)
        given = (options or {}).get(_WORKLOAD)
        workload = self._episodes.draw(self.np_random) if given is None else as_workload(given)
        episode = self._begin(workload)
        return self._observe(episode), self._info(episode)

    def _begin(self, workload: Workload) -> Episode:
        """Begin an episode with this workload."""
        self._episode = episode = Episode(self._platform, workload, self._settings, self._actions, self._shape.window)
        if episode.result is not None:
            raise WorkloadError(workload.source, "", "has no job to decide about")
        self._rewards = EpisodeRewards(self._reward, len(workload.jobs), self._shape.hosts)
        self._played = workload, []
        return episode

    def __getstate__(self) -> dict[str, Any]:
        """Support copying and pickling: the state of an episode is its workload and the actions."""
        state = {name: value for name, value in vars(self).items() if name not in _OF_EPISODES}
        if self._episode is None:
            return state
        workload, actions = self._played
        return {**state, "_played": (workload, list(actions))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Repeat the episode of the original up to its state."""
        played = state.pop("_played", None)
        vars(self).update(state)
        self._episode = None
        if played is not None:
            workload, actions = played
            self._begin(workload)
            for action in actions:
                self.step(action)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Answer the question, and simulate until the next one or the end."""
        episode, self._episode = self._running(), None  # a failed episode cannot be continued
        episode.answer(action)
        self._played[1].append(action if isinstance(action, (int, np.integer)) else deepcopy(action))
        self._episode = episode
        for record in episode.newly_ended():
            self._rewards.note(record)
        over = episode.result is not None
        return self._observe(episode), self._rewards.pay(over=over), over, False, self._info(episode)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of valid actions, as MaskablePPO of sb3-contrib requires it."""
        return self._running().mask.astype(np.bool_)

    @property
    def run(self) -> SimulatedRun:
        """The episode that has just ended, as a result of `campaigns.simulate`: metrics, pictures, files, a report."""
        episode = self._episode
        if episode is None or episode.result is None:
            raise OptionError("the run of an episode can be had when it is over")
        workload, _ = self._played
        plain = plain_settings(self._settings, episode.result.features, clock="zero", requests=False)
        inputs = RunInputs(self._platform_file, (origin_of(workload, workload),))
        origin = RunOrigin(inputs, Decider(), plain, episode.call)
        return simulated_run("gym", episode.result, episode.rejections, origin)

    def _running(self) -> Episode:
        if self._episode is None or self._episode.result is not None:
            raise OptionError("no episode is being played: call reset first")
        return self._episode

    def _observe(self, episode: Episode) -> Any:
        return self._observation.observe(episode.question, self._shape)

    def _info(self, episode: Episode) -> dict[str, Any]:
        question = episode.question
        info = {"now": episode.now, "waiting": len(question.view.queue), "action_mask": episode.mask}
        if episode.result is not None:
            metrics = asdict(summarise(episode.result))
            info["metrics"] = {name: float(value) for name, value in metrics.items() if isinstance(value, (int, float))}
        return info
