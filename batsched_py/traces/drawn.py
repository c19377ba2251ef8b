"""A workload that is drawn from a model when it is asked for, and the words that make it again."""

from __future__ import annotations

from random import Random

from msgspec import Struct

from batsched_py.model.workload import Workload
from batsched_py.traces.lublin import DEFAULT_OVERESTIMATE, generate


class Drawn(Struct, frozen=True):
    """A workload of the model of Lublin and Feitelson (2003), as `batsched-py generate` draws it.

    Attributes:
        jobs: how many.
        hosts: size of the machine.
        seed: the same seed, the same workload.
        load: the offered load that submission times are stretched to; None for those of the model.
        overestimate: walltimes are up to 1 + this times the run time.
    """

    jobs: int
    hosts: int
    seed: int = 0
    load: float | None = None
    overestimate: float = DEFAULT_OVERESTIMATE

    @property
    def command(self) -> str:
        """What makes the same workload."""
        stretched = "" if self.load is None else f" --load {self.load:g}"
        estimated = "" if self.overestimate == DEFAULT_OVERESTIMATE else f" --overestimate {self.overestimate:g}"
        return f"batsched-py generate --jobs {self.jobs} --hosts {self.hosts} --seed {self.seed}{stretched}{estimated}"

    @property
    def description(self) -> str:
        """For the file, if it is written."""
        return f"Lublin-Feitelson model: {self.command}"

    def draw(self) -> Workload:
        """The same at each call. OptionError names the parameter."""
        return generate(self.jobs, self.hosts, Random(self.seed), load=self.load, overestimate=self.overestimate)
