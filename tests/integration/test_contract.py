"""The contract suite over every algorithm that comes along; and over wrong ones, each of which it must catch."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any, ClassVar, get_args

import pytest
from hypothesis import Phase
from hypothesis.strategies import SearchStrategy

from batsched_py.api import Scheduler
from batsched_py.testing import Case, ContractTests, LateBatsim, contract, fingerprints, play
from batsched_py.testing.case import Peer
from batsched_py.testing.edges import crowded, edges
from batsched_py.testing.strategies import cases
from tests.drawing import drawn
from tests.integration import mutants, other_hashes
from tests.integration.variants import EACH, EVERYTHING, liberties
from tests.thoroughness import FACTOR

#: The same strategy for the same arguments.
_cases = cache(cases)


class Variant(ContractTests):
    """As they are, but what is the same for each variant is there once: what Hypothesis draws, and another process."""

    #: Each edge is tried with one peer, all peers in turn, and half of the crowds are repeated, in the other process.
    _few: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def _elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(contract, "run_in_other_process", other_hashes.run_in_other_process)

    def test_edges(self) -> None:
        """As they are, or fewer."""
        peers = len(get_args(Peer))
        for number, case in enumerate(edges(self.hosts)):
            if not self._few or number % peers == number // peers % peers:
                self.replay(self._fitted(case))

    def test_the_same_input_gives_the_same_bytes(self) -> None:
        """As they are, or without the second run in this process, which the suite without options makes."""
        if not self._few:
            super().test_the_same_input_gives_the_same_bytes()
            return
        scheduler, options = self.scheduler(), self.options
        for case in map(self._fitted, islice(crowded(self.hosts), 0, None, 2)):
            (here,) = fingerprints.fingerprints(scheduler, options, [case])
            (there,) = other_hashes.run_in_other_process(scheduler, options, [case])
            if here != there:
                self._fail_otherwise(" in another process", case, here, there)

    def _draw(self, peer: Peer, *, failing: bool | None = False) -> None:
        """Play drawn cases; if one fails, let Hypothesis search again and make it smaller."""
        strategy: SearchStrategy[Case] = _cases(**self._wanted(peer, failing))
        try:
            for case in drawn(strategy, self.examples):
                self.replay(case)
        except pytest.fail.Exception:
            super()._draw(peer, failing=failing)
            raise


def suite(name: str, options: dict[str, Any]) -> type[ContractTests]:
    """The class of tests of a variant, much as an author would write it; other options are tried with fewer cases."""
    fewer: dict[str, Any] = {"examples": 12, "_crowds": 4}
    if options and FACTOR <= 1:
        fewer = {"examples": 5, "_crowds": 1, "_few": True}
    if (name, options) not in EACH:
        fewer["pytestmark"] = [pytest.mark.variant]
    title = "Test" + "_".join([name, *(f"{value}" for value in options.values())]).title().replace("-", "_")
    return type(
        title,
        (Variant,),
        {"algorithm": name, "options": options, "__module__": __name__, **fewer, **liberties(name, options)},
    )


for _name, _options in EVERYTHING:
    _suite = suite(_name, _options)
    assert _suite.__name__ not in globals(), f"two variants are called {_suite.__name__}"
    globals()[_suite.__name__] = _suite


class Quick(ContractTests):
    """As they are, but a case that fails is not made smaller: only whether there is one is asked here."""

    examples = 40
    _phases: ClassVar[Any] = (Phase.explicit, Phase.generate)


def catcher(mutant: type[Scheduler[Any]], **attributes: Any) -> Quick:
    """A suite for it."""
    return type("TestMutant", (Quick,), {"algorithm": mutant, "__module__": __name__, **attributes})()  # type: ignore[no-any-return]


#: A wrong algorithm, a test that catches it, words of what it says.
CAUGHT = [
    (mutants.StartsOnFailed, "hosts_that_fail", "unavailable"),
    (mutants.Forgets, "jobs_of_all_kinds", "waits? for a decision .*w0!0.3 of . hosts?"),
    (mutants.StartsTwice, "jobs_of_all_kinds", "it (runs already|has ended)"),
    (mutants.Crowds, "jobs_of_all_kinds", "running a job"),
    (mutants.GivesTooMuch, "jobs_of_all_kinds", "it needs . hosts?, not"),
    (mutants.TrustsWalltimes, "late_news", "running a job"),
    (mutants.OneMessageAnInstant, "instants_in_several_messages", "the run does not end"),
    (mutants.ExactTimes, "messages_that_take_time", "the run does not end"),
    (mutants.CallsForEver, "jobs_of_all_kinds", "the run does not end: .* messages"),
    (mutants.Impatient, "jobs_of_all_kinds", "was rejected, though it could run"),
    (mutants.Kills, "jobs_of_all_kinds", "was killed"),
    (mutants.NeedsWalltimes, "jobs_of_all_kinds", "TypeError.*mutants.py"),
    (mutants.SetOrder, "the_same_input_gives_the_same_bytes", "other bytes in another process"),
    (mutants.ByAddress, "the_same_input_gives_the_same_bytes", "other bytes"),
    (mutants.ByChance, "the_same_input_gives_the_same_bytes", "other bytes"),
    (mutants.CountsEnds, "jobs_of_all_kinds", "the run does not end"),
    (mutants.StartsAtOnce, "jobs_of_all_kinds", "the run does not end"),
    (mutants.AsksAndAsks, "jobs_of_all_kinds", "the run does not end: .* messages"),
    (mutants.Hasty, "jobs_of_all_kinds", "switching"),
    (mutants.SleepsForGood, "jobs_of_all_kinds", "the run does not end"),
    (mutants.NeverDone, "jobs_of_all_kinds", "registration"),
    (mutants.ForgetsAcknowledgements, "jobs_of_all_kinds", "own!1"),
]


@pytest.mark.parametrize(("mutant", "test", "words"), CAUGHT)
def test_a_wrong_algorithm_is_caught(mutant: type[Scheduler[Any]], test: str, words: str) -> None:
    """The failure says what is wrong."""
    with pytest.raises(pytest.fail.Exception, match=words):
        getattr(catcher(mutant, examples=300), f"test_{test}")()


@pytest.mark.parametrize("test", [name for name in vars(ContractTests) if name.startswith("test_")])
def test_what_the_wrong_ones_are_made_of_is_right(test: str) -> None:
    """Else what is caught would not be what is wrong with them."""
    getattr(catcher(mutants.Greedy), test)()


@pytest.mark.parametrize(
    ("mutant", "liberty"),
    [(mutants.Impatient, "may_reject"), (mutants.Kills, "may_kill"), (mutants.Forgets, "may_leave")],
)
def test_what_an_algorithm_is_there_for_may_be_allowed(mutant: type[Scheduler[Any]], liberty: str) -> None:
    """By one word each."""
    catcher(mutant, **{liberty: True}).test_jobs_of_all_kinds()


def test_who_fails_on_purpose_may_raise_but_not_plan_the_impossible() -> None:
    """An error of its own ends a run well; one of the Plan is its mistake."""
    catcher(mutants.NeedsWalltimes, fails_on_purpose=True).test_jobs_of_all_kinds()
    with pytest.raises(pytest.fail.Exception, match="running a job"):
        catcher(mutants.Crowds, fails_on_purpose=True).test_jobs_of_all_kinds()


def test_a_failure_tells_the_rule_the_last_messages_and_how_to_play_it_again() -> None:
    """One screen, with the smallest case that Hypothesis finds, as Python that makes it again."""
    attributes = {"algorithm": mutants.StartsOnFailed, "__module__": __name__}
    wrong: ContractTests = type("TestWrong", (ContractTests,), attributes)()
    with pytest.raises(pytest.fail.Exception) as caught:
        wrong.test_hosts_that_fail()
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("greedy breaks the contract: the algorithm failed: t=")
    assert "start w0!000 on 0: 0 unavailable (mutants.py:" in lines[0]
    assert lines[1] == "the last messages:"
    assert len(lines) < 12
    assert lines[-1].startswith("  TestWrong().replay(Case(jobs=((0, 1, 1, ")
    case = eval(lines[-1].partition("replay(")[2].removesuffix(")"), {"Case": Case})
    with pytest.raises(pytest.fail.Exception) as again_caught:
        wrong.replay(case)
    assert str(again_caught.value).splitlines()[0] == lines[0]


def test_a_late_batsim_tells_one_thing_after_the_other_and_in_any_order() -> None:
    """The suite would show little otherwise."""
    case = Case(jobs=((0, 3, 5, 9), (0, 3, 5, 9), (0, 6, 5, 9)), peer="late")
    orders, messages, ends = set(), set(), []
    for seed in range(50):
        played = play(mutants.Greedy, {}, Case(jobs=case.jobs, peer="late", seed=seed))
        orders.add(tuple(ending.job.id for ending in played.endings))
        messages.add(len(played.exchanges))
        ends.append(played.endings[-1].finish)
    assert len(orders) > 1
    assert max(messages) == 2 + 2 * len(case.jobs) + 1
    assert len(messages) > 1
    assert max(ends) > 10.1
    assert LateBatsim(case).records == []


def test_a_process_that_is_kept_has_other_hashes_too() -> None:
    """It answers for each algorithm what one started for it does; one that takes from a set is found out by both."""
    for algorithm in (mutants.SetOrder, mutants.Greedy, mutants.SetOrder):
        cases = list(crowded(6))
        assert other_hashes.run_in_other_process(algorithm, {}, cases) == fingerprints.run_in_other_process(
            algorithm, {}, cases
        )


def test_where_bytes_begin_to_differ_is_told() -> None:
    """The messages up to the first that two processes answer otherwise; fewer than are said in all."""
    with pytest.raises(pytest.fail.Exception) as caught:
        catcher(mutants.SetOrder).test_the_same_input_gives_the_same_bytes()
    lines = str(caught.value).splitlines()
    assert lines[1] == "the last messages:"
    assert "EXECUTE_JOB" in next(line for line in reversed(lines) if line.startswith("  t="))
    assert len(lines) < 14
