"""An algorithm of a study: its name, and its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from batsched_py.plugins import AlgorithmLike, load_class
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import describe_options
from batsched_py.text.wording import spelled


class Variant(Struct, frozen=True):
    """An algorithm with its options and a name for tables.

    Attributes:
        name: unique in the study.
        algorithm: a name as after `-s`, or a class.
        options: texts as after `-o`, or values.
    """

    name: str
    algorithm: AlgorithmLike
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scheduler(self) -> type[Scheduler[Any]]:
        """The algorithm's class. PluginError."""
        return load_class(self.algorithm)

    @property
    def takes_seed(self) -> bool:
        """True if the algorithm has an option `seed` that is not given. PluginError."""
        known = {info.name for info in describe_options(self.scheduler.options_type)}
        return "seed" in known and "seed" not in self.options

    def with_seed(self, seed: int | None) -> Variant:
        """Return the variant with this seed, or the variant itself if it takes none."""
        if seed is None or not self.takes_seed:
            return self
        return replace(self, options={**self.options, "seed": seed})


def label_variant(algorithm: str, options: Mapping[str, Any]) -> str:
    """Return the name of an algorithm with its given options, written as after -o."""
    settings = ", ".join(f"{key}={spelled(value)}" for key, value in options.items())
    return f"{algorithm}({settings})" if settings else algorithm
