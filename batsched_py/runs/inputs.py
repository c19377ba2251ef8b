"""The inputs of simulations from Python: platforms and workloads as files, as models with seeds, or as objects."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from batsched_py.example_files import display_path, path_or_example
from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.results.run_file import InputFile, WorkloadFile, content_hash
from batsched_py.runs.run_description import platform_file
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import workload_content
from batsched_py.traces.lublin import Drawn
from batsched_py.traces.simgrid_xml import read_platform

#: A file, or an object; an included example has the path that it has in a clone.
PlatformLike = Platform | str | os.PathLike[str]
#: A file, an object, or a model from which a workload is drawn when it is needed.
WorkloadLike = Workload | Drawn | str | os.PathLike[str]


def as_platform(source: PlatformLike, limits: Limits = LIMITS) -> Platform:
    """Return the platform, read from its file if need be. PlatformError."""
    return source if isinstance(source, Platform) else read_platform(path_or_example(Path(source)), limits=limits)


def as_workload(source: WorkloadLike, limits: Limits = LIMITS) -> Workload:
    """Return the workload, read or drawn if need be. WorkloadError for a file, OptionError for a model's parameter."""
    if isinstance(source, Workload):
        return source
    return source.draw() if isinstance(source, Drawn) else read_workload(path_or_example(Path(source)), limits=limits)


def platform_origin(source: PlatformLike) -> InputFile | None:
    """Return the file of a platform; None for an object. InputError."""
    return None if isinstance(source, Platform) else platform_file(path_or_example(Path(source)))


def origin_of(source: WorkloadLike, workload: Workload) -> WorkloadFile:
    """Return the origin of a workload: its file, the equivalent file of a model, or the name of the object."""
    if isinstance(source, Drawn):
        content = workload_content(workload, description=source.description)
        return WorkloadFile(source.command, sha256(content).hexdigest(), source.parameters)
    drawn = Drawn.of_description(workload.description)
    generator = {} if drawn is None else drawn.parameters
    if isinstance(source, Workload):
        return WorkloadFile(workload.source, None, generator, workload.log_start)
    path = path_or_example(Path(source))
    return WorkloadFile(display_path(path), content_hash(path), generator, workload.log_start)
