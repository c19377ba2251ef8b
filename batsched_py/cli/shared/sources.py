"""The workloads of a study on the command line: files, or a model and seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec.structs import replace

from batsched_py.campaigns.plan.seeds import parse_seeds
from batsched_py.errors import OptionError
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.text.wording import unknown
from batsched_py.traces.lublin import Drawn

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
    """Parse seeds like "1-20" or "1,2,5-9", without repetition, in the given order; none if the option is absent."""
    try:
        return parse_seeds(",".join(values)) if values else ()
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None


def read_sources(
    files: Sequence[Path], models: Sequence[str], seeds: Sequence[int], hosts: int
) -> dict[str, WorkloadLike]:
    """Return name -> workload: files by their names, generated ones for `hosts` hosts by model and seed.

    With several models, the names include the parameters that differ, as in "lublin-load=0.6-1".

    UsageError, or OptionError for a parameter of the model.
    """
    if bool(files) == bool(models):
        raise click.UsageError("One of '-w' and '--generate' is needed: which workloads?")
    if not models:
        return _named(files)
    given = [_read_parameters(model) for model in models]
    found: dict[str, WorkloadLike] = {}
    for parameters in given:
        drawn = _checked(msgspec.convert({"hosts": hosts, **parameters}, Drawn))
        name = "-".join([_MODEL, *(f"{key}={parameters[key]:g}" for key in _varied(given) if key in parameters)])
        for seed in seeds or (0,):
            if f"{name}-{seed}" in found:
                raise click.UsageError(f"'--generate' draws {name}-{seed} twice: that is not a new observation")
            found[f"{name}-{seed}"] = replace(drawn, seed=seed)
    return found


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


def _named(files: Sequence[Path]) -> dict[str, WorkloadLike]:
    """Return the names of files without their ending, or the whole path where that is not unique."""
    stems = [file.name.removesuffix(".json") for file in files]
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
