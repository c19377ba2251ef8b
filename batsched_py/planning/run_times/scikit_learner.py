"""A regression of run times by scikit-learn, which is an extra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from batsched_py.errors import ExtraError
from batsched_py.planning.run_times.learner import Regression

# A descent with a constant rate diverges if the rate times the squared norm of the inputs exceeds 2. Features are
# seconds, hosts and sums of them, whose largest values are many standard deviations from their means. So the regression
# is of logarithms on logarithms, and standardised inputs are bounded: 19 inputs up to 3 have a squared norm of at most
# 171, which is safe with a rate of 0.01. The mean of logarithms is that of a geometric mean, so that a long job of a
# user with many short ones counts little: predictions are rather too short, which is corrected, than too long, which
# blocks backfilling. The regression is of the distance from the mean, which needs no descent.
#
# One job is learned at a time, in the order of their ends, without shuffling: nothing is random.

#: The rate of the descent, and the largest standardised input.
_RATE: Final = 0.01
_MOST: Final = 3.0
#: The largest logarithm of a prediction: the exponential of a larger one is no number.
_LONGEST: Final = 700.0


class Scale:
    """The mean and the standard deviation of values that come one by one (Welford, Technometrics 4(3), 1962)."""

    __slots__ = ("_count", "_squares", "mean")

    def __init__(self) -> None:
        self._count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        """Add a value."""
        self._count += 1
        before = value - self.mean
        self.mean += before / self._count
        self._squares += before * (value - self.mean)

    def standardised(self, value: float) -> float:
        """Return the distance from the mean in standard deviations, bounded; 0 if all values were the same."""
        deviation = math.sqrt(self._squares / self._count)
        return max(-_MOST, min((value - self.mean) / deviation, _MOST)) if deviation else 0.0


class ScikitLearner(Regression):
    """A linear regression by stochastic gradient descent (SGDRegressor), of logarithms of run times and features."""

    def __init__(self) -> None:
        """Load scikit-learn. ExtraError without it."""
        super().__init__()
        self._regressor = _regressor()(learning_rate="constant", eta0=_RATE, shuffle=False, random_state=0)
        #: Of each input, and of the logarithms of run times.
        self._scales: list[Scale] = []
        self._times = Scale()

    def inputs(self, features: Sequence[float]) -> Sequence[float]:
        """Return logarithms, with the signs of the features; the constant is the regressor's own."""
        return [math.copysign(math.log1p(abs(feature)), feature) for feature in features[1:]]

    def estimate(self, inputs: Sequence[float]) -> float | None:
        """Return the exponential of the regression."""
        if not self._scales:
            return None
        value = float(self._regressor.predict([self._standardised(inputs)])[0])
        return math.exp(min(self._times.mean + value, _LONGEST))

    def fit(self, inputs: Sequence[float], run_time: float, hosts: int) -> None:  # noqa: ARG002  (all count the same)
        """Learn the scale of the inputs, and make a step of the descent."""
        self._scales = self._scales or [Scale() for _ in inputs]
        for scale, value in zip(self._scales, inputs, strict=True):
            scale.add(value)
        logarithm = math.log(max(run_time, 1.0))
        self._times.add(logarithm)
        self._regressor.partial_fit([self._standardised(inputs)], [logarithm - self._times.mean])

    def _standardised(self, inputs: Sequence[float]) -> list[float]:
        return [scale.standardised(value) for scale, value in zip(self._scales, inputs, strict=True)]


def check_installed() -> None:
    """Check that scikit-learn is installed. ExtraError."""
    _regressor()


@cache
def _regressor() -> Any:
    try:
        from sklearn.linear_model import SGDRegressor  # noqa: PLC0415  # an extra; only what needs it loads it
    except ImportError:
        raise ExtraError("predictor sklearn", "scikit-learn", "learning") from None
    return SGDRegressor
