"""A planned run as its worker gets it: the platform and the settings, the algorithm, and the name of its workload."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.processes import PieceResult
from batsched_py.campaigns.variant import Variant
from batsched_py.model.platform import Platform
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.reporting.metrics.job_sample import check_groups
from batsched_py.reporting.metrics.machine_groups import EnergySignals
from batsched_py.reporting.metrics.warm_up import after_jobs
from batsched_py.reporting.schedules.time_window import WHOLE, WindowChoice
from batsched_py.simulator.inputs import check_inputs

#: Exit code of a run that failed by a defect or whose process died, as the program's.
_OUR_SIDE: Final = 3


class BatsimFiles(Struct, frozen=True):
    """The content of the files that Batsim reads: workers need no copies of them."""

    platform: bytes
    events: bytes | None = None


class RunEnvironment(Struct, frozen=True):
    """The platform and the settings of runs, the same for many of them.

    Attributes:
        platform: the hosts.
        settings: settings of the simulator, with external events.
        clock: the time that decisions take, as after --clock.
        window: the part of each run that is measured.
        warm_up_jobs: the number of jobs of each workload that are not measured, instead of a window; 0 for none.
        by: what jobs are grouped by, for outcomes with groups of jobs.
        find_warm_up: True for outcomes with the end of the warm-up.
        batsim: the files of real Batsim, if it simulates; None for the embedded simulator.
        code_folder: folder that is searched for modules of algorithms after Python's path; "" for none.
    """

    platform: Platform
    settings: Settings = DEFAULTS
    clock: str = "zero"
    window: WindowChoice = WHOLE
    batsim: BatsimFiles | None = None
    code_folder: str = ""
    by: tuple[str, ...] = ()
    find_warm_up: bool = False
    warm_up_jobs: int = 0

    @property
    def signals(self) -> EnergySignals:
        """The signals by which runs are measured."""
        return EnergySignals(self.settings.carbon, self.settings.price)

    def check(self, name: str, workload: Workload) -> None:
        """Check that a workload can be simulated, measured in the window, and grouped. InputError, OptionError.

        A window that no run can have is an error; the ends of runs are not known yet.
        """
        check_inputs(self.platform, [workload], self.settings)
        check_groups(workload, self.by)
        if self.warm_up_jobs:
            after_jobs(name, workload.submissions(), self.warm_up_jobs)
        if not self.window.whole:
            self.window.found(name, workload.log_start, min(workload.submissions(), default=0.0), math.inf)


class RunSpec(Struct, frozen=True):
    """The rest of a run: the name of its workload, and the algorithm with its options."""

    workload: str
    variant: Variant

    def failed(self, error: str, exit_code: int = _OUR_SIDE) -> Outcome:
        """Return the outcome of a failed run; `error` is the reason in one line."""
        return Outcome(self.workload, self.variant.name, error=error, exit_code=exit_code)

    def ended(self, result: PieceResult[Outcome]) -> Outcome:
        """Return the outcome of a run that was executed in a process, which may have died or been killed."""
        return result.value or self.failed(result.failure)
