"""Reinforcement learning: a Gymnasium environment on the session and the simulator, and agents as algorithms.

Start with `environment` (`ScheduleEnv`, registered as `batsched/Schedule-v0`) and its `episode`. Configurable parts are
objects: `episodes` (source of workloads), `observations` with `features`, `actions` (the interface; `pick_job`,
`pick_hosts` and `pick_order`, which use `serving` to start jobs) and `rewards`. A `question` is a decision required
from an agent. `agent` answers the same questions inside an algorithm, and `weights` stores learned parameters.

Invariants: a step uses the same messages, checks and state as `batsched-py simulate`; the same seed and the same
actions give the same episode; observations contain only data available to an algorithm.

It needs the extra `gym`. Importing this package registers the environment in Gymnasium, as is usual there.
"""

from batsched_py.errors import ExtraError

try:
    import gymnasium as _gymnasium
except ModuleNotFoundError:
    raise ExtraError("batsched_py.gym", "gymnasium", "gym") from None

from batsched_py.gym.actions import Actions, Decisions
from batsched_py.gym.agent import Agent
from batsched_py.gym.environment import ScheduleEnv
from batsched_py.gym.episodes import Episodes, LogWindows, Model, WholeWorkload
from batsched_py.gym.features import FITS_NOW, FREE_HOSTS, REQUESTED_HOSTS, REQUESTED_TIME, SHOWN, WAIT, Feature
from batsched_py.gym.observations import FreeHosts, HostReleases, Observation, QueueWindow, Together
from batsched_py.gym.pick_hosts import PickJobAndHosts
from batsched_py.gym.pick_job import PickJob
from batsched_py.gym.pick_order import PickOrder
from batsched_py.gym.question import Question, Shape
from batsched_py.gym.rewards import BoundedSlowdown, JobCost, Makespan, Meter, Reward, Utilisation, Wait
from batsched_py.gym.serving import ServingActions
from batsched_py.gym.weights import read_weights, write_weights

__all__ = [
    "FITS_NOW",
    "FREE_HOSTS",
    "REQUESTED_HOSTS",
    "REQUESTED_TIME",
    "SHOWN",
    "WAIT",
    "Actions",
    "Agent",
    "BoundedSlowdown",
    "Decisions",
    "Episodes",
    "Feature",
    "FreeHosts",
    "HostReleases",
    "JobCost",
    "LogWindows",
    "Makespan",
    "Meter",
    "Model",
    "Observation",
    "PickJob",
    "PickJobAndHosts",
    "PickOrder",
    "Question",
    "QueueWindow",
    "Reward",
    "ScheduleEnv",
    "ServingActions",
    "Shape",
    "Together",
    "Utilisation",
    "Wait",
    "WholeWorkload",
    "read_weights",
    "write_weights",
]

if "batsched/Schedule-v0" not in _gymnasium.registry:
    _gymnasium.register("batsched/Schedule-v0", entry_point="batsched_py.gym.environment:ScheduleEnv")
