"""The workloads of a study on the command line: files, parts of logs, or a model with seeds and loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.plan.campaign import LogWorkloads
from batsched_py.campaigns.plan.seeds import parse_seeds
from batsched_py.campaigns.plan.sources import SourceReader
from batsched_py.campaigns.series import WorkloadGroup
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import OptionError
from batsched_py.reading.limits import Limits
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, unknown
from batsched_py.traces.lublin import Drawn

#: The entry of a command's context with the seeds that a number alone stands for, in words.
_COUNTED: Final = f"{__name__}.counted"
#: The only model so far.
_MODEL: Final = "lublin"
#: Parameter of the model -> its type, and the type's name for messages.
_PARAMETERS: Final = {
    "jobs": (int, "a whole number"),
    "hosts": (int, "a whole number"),
    "load": (float, "a number"),
    "overestimate": (float, "a number"),
    "speed": (float, "a number of flop/s"),
}


def read_seeds(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    """Parse seeds like "1-20" or "1,2,5-9", without repetition, in the given order; none if the option is absent.

    A number alone is a number of seeds; `say_seeds` says which.
    """
    text = ",".join(values)
    try:
        seeds = parse_seeds(text) if values else ()
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None
    if text.isdigit():
        context.meta[_COUNTED] = f"{counted(len(seeds), 'seed')}: {f'1-{len(seeds)}' if len(seeds) > 1 else '1'}"
    return seeds


def say_seeds() -> None:
    """Write to stderr which seeds a number alone stands for, once all inputs are known to be right."""
    line = click.get_current_context().meta.get(_COUNTED)
    if line is not None:
        say(line, err=True)


class WorkloadOptions(Struct, frozen=True):
    """The options that name workloads.

    Attributes:
        files: workloads, or with `every` also logs.
        models: models with their parameters.
        seeds: of the models; with files, of the algorithms.
        loads: the loads of the models; empty for what the models say.
        every: seconds of the parts of each file; None for whole files.
    """

    files: tuple[Path, ...]
    models: tuple[str, ...]
    seeds: tuple[int, ...]
    loads: tuple[float, ...]
    every: float | None

    def check(self) -> None:
        """Check that the options go together. UsageError."""
        if bool(self.files) == bool(self.models):
            raise click.UsageError("One of '-w' and '--generate' is needed: which workloads?")
        if self.loads and not self.models:
            raise click.UsageError("'--load' goes with '--generate'")
        if self.every is not None and not self.files:
            raise click.UsageError("'--every' goes with '-w'")

    def groups(self, hosts: int, limits: Limits) -> tuple[WorkloadGroup, ...]:
        """Return groups of name -> workload: for each load, or for each file that is divided; otherwise one.

        Files are called by their names, parts of them by their numbers, and workloads that are generated for `hosts`
        hosts by model and seed; with several models or loads, the names include the parameters that differ, as in
        "lublin-load=0.6-1".

        UsageError, OptionError for a parameter of the model, InputError for a file that is divided.
        """
        self.check()
        if self.models:
            return _drawn(self.models, self.seeds or (0,), self.loads, hosts)
        if self.every is None:
            return (WorkloadGroup({}, _named(self.files)),)
        return tuple(_divided(self.files, self.every, limits))


def read_loads(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[float, ...]:
    """Parse loads like "0.6,0.8", which must differ. UsageError."""
    found = []
    for text in filter(None, ",".join(values).split(",")):
        try:
            found.append(float(text))
        except ValueError:
            raise click.BadParameter(f"must be numbers, not {displayed(text)}", context, parameter) from None
    if len(set(found)) < len(found):
        raise click.BadParameter(f"must name each load once, not {','.join(values)}", context, parameter)
    return tuple(found)


def _drawn(
    models: Sequence[str], seeds: Sequence[int], loads: Sequence[float], hosts: int
) -> tuple[WorkloadGroup, ...]:
    """Return the workloads of all models, a group for each load. UsageError, OptionError."""
    given = [_read_parameters(model) for model in models]
    if loads and any("load" in parameters for parameters in given):
        raise click.UsageError("'--load' and the key load of '--generate' exclude each other")
    sets = [[{**parameters, "load": load} for parameters in given] for load in loads] or [given]
    varied = _varied([parameters for one in sets for parameters in one])
    groups = []
    for one in sets:
        found: dict[str, WorkloadLike] = {}
        for parameters in one:
            drawn = _checked(msgspec.convert({"hosts": hosts, **parameters}, Drawn))
            name = "-".join([_MODEL, *(f"{key}={parameters[key]:g}" for key in varied if key in parameters)])
            for seed in seeds:
                if f"{name}-{seed}" in found:
                    raise click.UsageError(f"'--generate' draws {name}-{seed} twice: that is not a new observation")
                found[f"{name}-{seed}"] = replace(drawn, seed=seed)
        groups.append(WorkloadGroup({"load": one[0]["load"]} if len(sets) > 1 else {}, found))
    return tuple(groups)


def _divided(files: Sequence[Path], length: float, limits: Limits) -> Iterator[WorkloadGroup]:
    """Yield the parts of each file as a group, as a study file has them with `every`. InputError, OptionError."""
    reader = SourceReader(limits)
    for name, path in _named(files).items():
        choice = LogWorkloads(name, path, every=length)
        sources = reader.read(choice, 0)
        workloads: dict[str, WorkloadLike] = {one.name: one.workload for one in sources}
        yield WorkloadGroup(
            {"log": name} if len(files) > 1 else {}, workloads, {one.name: one.origin for one in sources}
        )


def _varied(models: Sequence[Mapping[str, float]]) -> list[str]:
    """Return the parameters that differ between models, in a fixed order."""
    return [key for key in _PARAMETERS if len({parameters.get(key) for parameters in models}) > 1]


def _checked(drawn: Drawn) -> Drawn:
    """Return a model after checking the ranges of its parameters. OptionError."""
    try:
        drawn.check()
    except OptionError as error:  # the message begins with the parameter's name
        raise OptionError(f"--generate {error}") from error
    return drawn


def _stem(file: Path) -> str:
    """Return the name without the ending of a workload or a log."""
    name = file.name.removesuffix(".json")
    return Path(name.removesuffix(".gz")).stem if name == file.name else name


def _named(files: Sequence[Path]) -> dict[str, Path]:
    """Return the names of files without their ending, or the whole path where that is not unique."""
    stems = [_stem(file) for file in files]
    often = Counter(stems)
    names = [stem if often[stem] == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise click.UsageError(f"'-w' names {twice[0]} twice: the same workload is not a new observation")
    return dict(zip(names, files, strict=True))


def _read_parameters(text: str) -> dict[str, int | float]:
    """Parse the parameters of a model like "lublin:jobs=300,load=0.9". OptionError."""
    model, _, parameters = text.partition(":")
    if model != _MODEL:
        raise OptionError(f"--generate {model}: {unknown(model, [_MODEL])}")
    found: dict[str, int | float] = {}
    for part in filter(None, parameters.split(",")):
        key, _, value = part.partition("=")
        if key not in _PARAMETERS:
            raise OptionError(f"--generate {key}: {unknown(key, _PARAMETERS)}")
        if key in found:
            raise OptionError(f"--generate {key}: is set twice")
        read, kind = _PARAMETERS[key]
        try:
            found[key] = read(value)
        except ValueError:
            raise OptionError(f"--generate {key}: must be {kind}, not {value!r}") from None
    if "jobs" not in found:
        raise OptionError(f"--generate {_MODEL}: needs jobs, like {_MODEL}:jobs=300")
    return found
