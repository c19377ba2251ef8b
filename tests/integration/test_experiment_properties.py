"""Random runs of managed experiments, judged by a checker that knows only what a run has written.

The same ones in every run of the tests.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings

from tests.experiment_checks import violations
from tests.experiment_workloads import ExperimentCase, experiment_cases


@settings(max_examples=15)
@given(experiment_cases())
def test_runs_keep_their_rules(case: ExperimentCase) -> None:
    """States follow each other, all that was asked for is gone, nobody has more than there is, all in its order."""
    with TemporaryDirectory() as folder:
        assert violations(case, Path(folder)) == []
