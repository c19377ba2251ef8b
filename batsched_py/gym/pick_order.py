"""Actions that pick the order of the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from batsched_py.errors import OptionError
from batsched_py.gym.actions import Decisions, Mask
from batsched_py.gym.question import Question, Shape
from batsched_py.gym.serving import Serving, ServingActions
from batsched_py.planning.policies.ordering import ORDERS, Order
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View


@dataclass(frozen=True, slots=True)
class PickOrder(ServingActions):
    """Actions that pick an order of the queue, whenever hosts or jobs have arrived and a waiting job fits.

    Jobs are started in that order up to the first that does not fit. That job has no promise: the next answer may be
    another order. An agent that always picks the same order produces the schedule of `priority` with it.

    Attributes:
        orders: names of orders (docs/policies.md).
    """

    orders: tuple[str, ...] = ("fcfs", "sjf", "asc_area", "wfp3", "f1")

    def space(self, shape: Shape) -> spaces.Space[Any]:  # noqa: ARG002  (it does not depend on sizes)
        """Return the space of the orders' numbers. OptionError for an unknown name."""
        return spaces.Discrete(len(self.found()))

    def begin(self, view: View, window: int) -> Decisions:
        """Begin a run."""
        return PickedOrders(self.found(), Serving(self, view), view, window)

    def found(self) -> tuple[Order, ...]:
        """Return the orders. OptionError for an unknown name."""
        try:
            orders = tuple(ORDERS.find(name, None) for name in self.orders)
        except ValueError as error:
            raise OptionError(f"orders: {error}") from None
        if not orders:
            raise OptionError("orders: must be at least one")
        return orders


class PickedOrders(Decisions):
    """The decisions of a run in which orders are picked."""

    def __init__(self, orders: tuple[Order, ...], serving: Serving, view: View, window: int) -> None:
        self._orders, self._serving, self._view, self._window = orders, serving, view, window
        #: True from an answer to the end of the message: each message has at most one question.
        self._served = False

    def next_question(self, plan: Plan) -> Question | None:
        """Return a question if a job may start now that could not start before."""
        view = self._view
        if self._served:
            self._served = False
            return None
        self._serving.refuse(plan)
        free = len(plan.free)
        if (view.arrived or view.hosts_changed) and any(job.size <= free for job in view.queue):
            return Question.about(view, self._window)
        return None

    def mask(self, question: Question) -> Mask:  # noqa: ARG002  (any order will do at any time)
        """Return 1 for each order."""
        return np.ones(len(self._orders), np.int8)

    def take(self, question: Question, action: Any, plan: Plan) -> None:  # noqa: ARG002  (all that wait are served)
        """Start jobs in this order."""
        view = self._view
        for job in self._orders[int(action)].sorted(view.queue, view.now):
            if not self._serving.serve(job, plan):
                break
        self._served = True
