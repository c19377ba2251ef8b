"""The contract suite: tests for any algorithm, in a class of three lines."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

from msgspec.structs import replace

try:
    import pytest
    from hypothesis import HealthCheck, Phase, given, settings

    from batsched_py.testing.strategies import cases
except ImportError as error:
    raise ImportError(
        f"the contract tests need pytest and hypothesis: pip install '.[testing]' in a clone ({error})"
    ) from None

from batsched_py.errors import AlgorithmError, BatschedError, PlanError, RefusedError
from batsched_py.plugins import find_code, load
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import Case, Peer
from batsched_py.testing.edges import crowd, crowded, edges
from batsched_py.testing.fingerprints import Fingerprint, fingerprints, run_in_other_process
from batsched_py.testing.play import Played, Player
from batsched_py.testing.rules import ContractTrial, Liberties, broken_rule

#: Maximum transit time of a reply in a case, in seconds.
CROSSING: Final = 0.1
#: Number of messages before the violation in a report.
_SHOWN = 6


class ContractTests:
    """The contract of every algorithm; inherit from it in a test module, in a class whose name begins with Test.

    Each test plays small workloads against the algorithm, most of them drawn by Hypothesis, and judges the results:
    every job ends in exactly one way, on hosts of its own, and the run ends. docs/testing.md lists the rules.

    Attributes:
        algorithm: the class, or a name as after `-s`; a file is also searched in the folder of the test module.
        options: the algorithm's options.
        hosts: number of hosts of the machine.
        examples: number of workloads that each test draws.
        energy: hosts have power states, and may sleep; None: if the algorithm needs them.
        may_kill: it kills jobs that would have continued.
        may_reject: it rejects jobs that could run.
        may_leave: it leaves jobs waiting forever that could run.
        particular_hosts: it starts jobs on particular sets of hosts only, such as neighbours, or hosts with low power:
            when hosts are lost, any job may wait forever.
        fails_on_purpose: it may raise, but not make impossible decisions.
    """

    algorithm: ClassVar[str | type[Scheduler[Any]]]
    options: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    hosts: ClassVar[int] = 6
    examples: ClassVar[int] = 30
    energy: ClassVar[bool | None] = None
    may_kill: ClassVar[bool] = False
    may_reject: ClassVar[bool] = False
    may_leave: ClassVar[bool] = False
    particular_hosts: ClassVar[bool] = False
    fails_on_purpose: ClassVar[bool] = False
    #: Number of crowded cases for each peer.
    _crowds: ClassVar[int] = 8
    #: Phases of Hypothesis, without the explanation of a failing case, which is slow and of no use here.
    _phases: ClassVar[Sequence[Phase]] = tuple(phase for phase in Phase if phase is not Phase.explain)

    def test_jobs_of_all_kinds(self) -> None:
        """Every job ends once, in its time and on its own hosts: early, at its walltime, without one, too large."""
        self._draw("simulator")

    def test_hosts_that_fail(self) -> None:
        """Nothing starts there, and what can still run does; a job for which too few hosts are left may wait."""
        self._draw("simulator", failing=True)

    def test_messages_that_take_time(self) -> None:
        """Ends and calls are announced a little after they were due (E18)."""
        self._draw("messages", failing=None)

    def test_instants_in_several_messages(self) -> None:
        """Events of one instant come in one message or in several, in any order (E5)."""
        self._draw("torn", failing=None)
        self._crowd("torn")

    def test_late_news(self) -> None:
        """Everything is announced late: an end after the walltime, a call after other things (E18)."""
        self._draw("late", failing=None)
        self._crowd("late")

    def test_edges(self) -> None:
        """No jobs, one host, a burst, jobs for which there are never enough hosts, a machine that fails whole."""
        for case in edges(self.hosts):
            self.replay(self._fitted(case))

    def test_the_same_input_gives_the_same_bytes(self) -> None:
        """A second run sends the bytes of the first, in this process and in one with other hashes of texts."""
        scheduler, options = self.scheduler(), self.options
        chosen = [self._fitted(case) for case in crowded(self.hosts)]
        first = fingerprints(scheduler, options, chosen)
        for where, again in (
            ("", fingerprints(scheduler, options, chosen)),
            (" in another process", run_in_other_process(scheduler, options, chosen)),
        ):
            if again is not None and again != first:
                number = next(number for number, one in enumerate(first) if one != again[number])
                self._fail_otherwise(where, chosen[number], first[number], again[number])

    def replay(self, case: Case) -> Played | None:
        """Play one case and judge it, as the tests do; None if its run stopped without a mistake of the algorithm."""
        scheduler = self.scheduler()
        player = Player(scheduler, self.options, case)
        try:
            played = player.run()
        except AlgorithmError as error:
            if self.fails_on_purpose and not isinstance(error.__cause__, PlanError):
                return None
            self._fail(f"the algorithm failed: {error}", case, player)
        except RefusedError as error:
            if self._crossed(case, player):
                return None
            self._fail(f"Batsim aborts: {error}", case, player)
        except BatschedError as error:
            self._fail(f"{type(error).__name__}: {error}", case, player)
        liberties = Liberties(self.may_kill, self.may_reject, self.may_leave, self.particular_hosts)
        broken = broken_rule(ContractTrial(case, played, scheduler, liberties))
        if broken:
            self._fail(broken, case, player)
        return played

    def _crossed(self, case: Case, player: Player) -> bool:
        """Return True if a host failed while the reply was in transit: real Batsim aborts, which is unpredictable."""
        now = player.session.now
        return case.peer == "messages" and any(abs(begin - now) <= CROSSING for begin, _, _ in case.outages)

    @classmethod
    def scheduler(cls) -> type[Scheduler[Any]]:
        """Return the class of the algorithm; PluginError if there is none."""
        if not isinstance(cls.algorithm, str):
            return cls.algorithm
        return _loaded(find_code(cls.algorithm, Path(inspect.getfile(cls)).parent))

    def _fitted(self, case: Case) -> Case:
        """Return the case with energy and dynamic jobs if the algorithm needs them."""
        scheduler = self.scheduler()
        energy = scheduler.needs_energy if self.energy is None else self.energy
        return replace(case, energy=energy, dynamic=scheduler.needs_dynamic_jobs)

    def _crowd(self, peer: Peer) -> None:
        """Play some cases with long queues, because coincidences are rarely drawn."""
        for seed in range(self._crowds):
            self.replay(self._fitted(crowd(self.hosts, peer, seed)))

    def _wanted(self, peer: Peer, failing: bool | None) -> dict[str, Any]:
        """Return the arguments of `cases` for the needs of the algorithm."""
        needed = self._fitted(Case(hosts=self.hosts, jobs=(), peer=peer))
        return {
            "hosts": self.hosts,
            "peer": peer,
            "energy": needed.energy,
            "dynamic": needed.dynamic,
            "failing": failing,
        }

    def _draw(self, peer: Peer, *, failing: bool | None = False) -> None:
        """Replay cases that Hypothesis draws; with `failing` None some have outages."""

        @settings(
            max_examples=self.examples, deadline=None, suppress_health_check=list(HealthCheck), phases=self._phases
        )
        @given(cases(**self._wanted(peer, failing)))
        def tried(case: Case) -> None:
            self.replay(case)

        tried()

    def _fail_otherwise(self, where: str, case: Case, first: Fingerprint, again: Fingerprint) -> None:
        """Report the first message that differs, from a run in this process."""
        pairs = zip_longest(first, again)
        differing = next(place for place, (one, other) in enumerate(pairs) if one != other)
        player = Player(self.scheduler(), self.options, case)
        with suppress(BatschedError):
            player.run()
        del player.exchanges[differing + 1 :]
        rule = f"the same input gives other bytes{where}, from the last of these messages on"
        self._fail(f"{rule}; is anything taken from a set, or by chance?", case, player)

    def _fail(self, rule: str, case: Case, player: Player | None = None) -> Any:
        name = f"{self.scheduler().name} {dict(self.options) or ''}".strip()
        lines = [f"{name} breaks the contract: {rule}"]
        if player is not None:
            lines += ["the last messages:", *(f"  {line}" for line in player.last_lines(_SHOWN))]
        lines += [
            "jobs are (submission, hosts, run time, walltime), outages (begin, hosts, end); to play it again:",
            f"  {type(self).__name__}().replay({case!r})",
        ]
        pytest.fail("\n".join(lines), pytrace=False)


@cache
def _loaded(name: str) -> type[Scheduler[Any]]:
    """Load an algorithm once, so that its file is not run again for each test."""
    return load(name)
