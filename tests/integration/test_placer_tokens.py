"""Tokens in runs of `placer`: each grant is used, released or expired, and none outlives its time-out or the run."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.api import View
from batsched_py.collection.codes import Code
from batsched_py.collection.resources import CollectionResource
from batsched_py.collection.tokens import Request, Token
from batsched_py.schedulers.placer import PlacerScheduler
from tests.integration.variants import PLATFORM, SPECS, workload
from tests.recorded_run import RecordedRun

OPTIONS = st.fixed_dictionaries(
    {
        "place": st.sampled_from(["best", "random", "round-robin"]),
        "keep": st.sampled_from(["any", "next", "none"]),
        "staleness": st.sampled_from([0, 4]),
        "refuse": st.sampled_from([0, 0.2, 0.6]),
        "alternatives": st.integers(1, 5),
        "patience": st.just(100),
        "pause": st.just(5),
    },
    optional={"time_out": st.sampled_from([0.0, 1.0])},  # else nothing expires
)


class Book:
    """A record of the tokens of all resources, and of the holder of each host."""

    def __init__(self) -> None:
        self.granted: set[Token] = set()
        self.started: set[Token] = set()
        self.released: set[Token] = set()


class Watched(CollectionResource):
    """A resource that notes what it grants."""

    def __init__(self, other: CollectionResource, book: Book) -> None:
        super().__init__(other.name, other.capacity, other._policies)
        self._book = book

    def request(self, request: Request, now: float) -> Token | Code:
        """Note a grant; whatever is alive has not timed out, and no two exclusive ones overlap."""
        answer = super().request(request, now)
        if isinstance(answer, Token):
            self._book.granted.add(answer)
        alive = self.tokens(now)
        assert all(now < token.expires or token in self._book.started for token in alive)
        assert len(alive) <= 1
        return answer

    def start(self, token: Token, holder: str, now: float) -> Code:
        """Note a use."""
        code = super().start(token, holder, now)
        if code is Code.GRANTED:
            self._book.started.add(token)
        return code

    def release(self, token: Token) -> bool:
        """Note what is given back."""
        done = super().release(token)
        if done:
            self._book.released.add(token)
        return done


@given(SPECS, OPTIONS)
@settings(max_examples=60, deadline=None)
def test_each_grant_is_used_released_or_expired(
    specs: list[tuple[int, int, int, int]], options: dict[str, Any]
) -> None:
    """This holds whatever refuses, and however old the records are."""
    book = Book()

    class WatchedPlacer(PlacerScheduler):
        def setup(self, view: View) -> None:
            super().setup(view)
            resources = self.members.resources
            resources.update({name: Watched(resource, book) for name, resource in resources.items()})

    recorded = RecordedRun(WatchedPlacer, options)
    result = recorded.run([workload(specs)], on=PLATFORM)
    placer = recorded.algorithm(WatchedPlacer)
    end = max((record.finish for record in result.jobs), default=0.0) + 1e6
    for token in book.granted - book.started - book.released:
        assert token.expires <= end
    for resource in placer.members.resources.values():
        assert resource.tokens(end) == []
    assert not book.started & book.released
