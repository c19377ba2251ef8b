"""Where the workloads of a study come from: files, a model with seeds, or Python."""

from __future__ import annotations

import os
from pathlib import Path

from batsched_py.model.limits import LIMITS, Limits
from batsched_py.model.workload import Workload
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.drawn import Drawn

#: A workload, or what one is made of when it is needed.
Source = Workload | Drawn | str | os.PathLike[str]


def read_source(source: Source, limits: Limits = LIMITS) -> Workload:
    """The workload. WorkloadError for a file, OptionError for a model's parameter."""
    if isinstance(source, Workload):
        return source
    return source.draw() if isinstance(source, Drawn) else read_workload(Path(source), limits=limits)
