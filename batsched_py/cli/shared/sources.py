"""The workloads of a study on the command line: files, or a model and seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec.structs import replace

from batsched_py.campaigns.inputs import WorkloadLike
from batsched_py.campaigns.plan.seeds import parse_seeds
from batsched_py.errors import OptionError
from batsched_py.text.wording import unknown
from batsched_py.traces.lublin import Drawn

#: The only model so far.
_MODEL: Final = "lublin"
#: Parameter of the model -> its type, and the type in words.
_PARAMETERS: Final = {
    "jobs": (int, "an integer"),
    "hosts": (int, "an integer"),
    "load": (float, "a number"),
    "overestimate": (float, "a number"),
}


def read_seeds(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Read seeds like "1-20" or "1,2,5-9", each once, in the order given; none for an option that was not given."""
    if value is None:
        return ()
    try:
        return parse_seeds(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None


def read_sources(files: Sequence[Path], model: str | None, seeds: Sequence[int], hosts: int) -> dict[str, WorkloadLike]:
    """Return name -> workload: files under their names, drawn ones for `hosts` hosts under model and seed.

    UsageError, or OptionError for a parameter of the model.
    """
    if bool(files) == (model is not None):
        raise click.UsageError("One of '-w' and '--generate' is needed: which workloads?")
    if model is None:
        return _named(files)
    drawn = _read_model(model, hosts)
    try:
        drawn.draw()
    except OptionError as error:  # begins with the parameter's name
        raise OptionError(f"--generate {error}") from error
    return {f"{_MODEL}-{seed}": replace(drawn, seed=seed) for seed in seeds or (0,)}


def _named(files: Sequence[Path]) -> dict[str, WorkloadLike]:
    """Name files without their ending, or by the whole path where that is not unique."""
    stems = [file.name.removesuffix(".json") for file in files]
    often = Counter(stems)
    names = [stem if often[stem] == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise click.UsageError(f"'-w' names {twice[0]} twice: the same workload is not a new observation")
    return dict(zip(names, files, strict=True))


def _read_model(text: str, hosts: int) -> Drawn:
    """Read a model like "lublin:jobs=300,load=0.9"."""
    model, _, parameters = text.partition(":")
    if model != _MODEL:
        raise OptionError(f"--generate {model}: {unknown(model, [_MODEL])}")
    found: dict[str, int | float] = {}
    for part in filter(None, parameters.split(",")):
        key, _, value = part.partition("=")
        if key not in _PARAMETERS:
            raise OptionError(f"--generate {key}: {unknown(key, _PARAMETERS)}")
        read, kind = _PARAMETERS[key]
        try:
            found[key] = read(value)
        except ValueError:
            raise OptionError(f"--generate {key}: must be {kind}, not {value!r}") from None
    if "jobs" not in found:
        raise OptionError(f"--generate {_MODEL}: needs jobs, like {_MODEL}:jobs=300")
    return msgspec.convert({"hosts": hosts, **found}, Drawn)
