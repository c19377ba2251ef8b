"""Views of experiments on the board, by owner."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice
from typing import cast

from batsched_py.experiments.parsing.submissions import DELETE, SUBMIT
from batsched_py.experiments.states import ExperimentState
from batsched_py.experiments.views import LIVE_EXPERIMENTS, ExperimentView, ResourceView
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.problems import refuse
from batsched_py.site.api.request_counts import OwnedRequests
from batsched_py.site.board import EMPTY, Board, Snapshot
from batsched_py.site.inbox import Inbox
from batsched_py.site.journal import JournalEntry


class Experiments:
    """An index of experiments by the numbers of their requests; used from one event loop.

    Args:
        inbox: the requests of the site.
        board: the state of its run.
    """

    def __init__(self, inbox: Inbox, board: Board) -> None:
        self._inbox, self._board = inbox, board
        #: The number of indexed requests.
        self._indexed = 0
        self._owned = OwnedRequests()
        self._deleted: set[int] = set()
        self._snapshot: Snapshot = EMPTY
        self._views: dict[int, ExperimentView] = {}
        #: Accepted experiments that are not in a snapshot yet.
        self._accepted: dict[int, ExperimentView] = {}

    def note(self, accepted: ExperimentView) -> None:
        """Keep the view of an accepted experiment until a snapshot contains it."""
        self._accepted[int(accepted.id)] = accepted

    def find(self, number: int, who: Identity) -> ExperimentView:
        """Return an experiment. RequestRefusedError if there is none, it was deleted, or the caller may not read it."""
        self._catch_up()
        entry = self.entry(number)
        if not who.may_read(entry.user, entry.group):
            raise refuse(403, "it belongs to another user")
        return self._view(entry)

    def entry(self, number: int) -> JournalEntry:
        """Return the request of an experiment; RequestRefusedError if there is none, or it was deleted."""
        self._catch_up()
        entry = self._inbox.entries.get(number)
        if entry is None or entry.kind != SUBMIT or number in self._deleted:
            raise refuse(404, f"there is no experiment {number}")
        return entry

    def check_owner(self, number: int, who: Identity) -> None:
        """Raise RequestRefusedError unless the caller has submitted an experiment, or is an operator."""
        if not who.may_change(self.entry(number).user):
            raise refuse(403, "only the user who submitted it, or an operator, may do this")

    def count(self, who: Identity) -> tuple[int, int]:
        """Return the number of a user's experiments, and of its group's, without deleted ones."""
        self._catch_up()
        return self._owned.count(who.user), self._owned.count_group(who.group)

    def readable(
        self, who: Identity, user: str | None, span: range, *, limit: int, newest: bool
    ) -> list[ExperimentView]:
        """Return the experiments in a range of numbers that a caller may read, `limit` at most.

        Those of one user, unless `user` is None. The order is ascending, with `newest` descending.
        """
        self._catch_up()
        entries, numbers = self._inbox.entries, self._owned.of(who)
        chosen = numbers[bisect_left(numbers, span.start) : bisect_left(numbers, span.stop)]
        found = (entries[number] for number in (reversed(chosen) if newest else chosen))
        views = (self._view(entry) for entry in found if user is None or entry.user == user)
        return list(islice(views, limit))

    def with_link(self, link: str, who: Identity) -> ExperimentView:
        """Return the experiment with this id at the resource manager; RequestRefusedError as `find`."""
        self._catch_up()
        found = next((view for view in self._views.values() if view.link == link), None)
        if found is None:
            raise refuse(404, f"there is no experiment {link}")
        return self.find(int(found.id), who)

    def with_resource(self, id: str, who: Identity) -> tuple[ExperimentView, ResourceView]:
        """Return the resource with this id, and its experiment; RequestRefusedError as `find`."""
        self._catch_up()
        found = ((view, one) for view in self._views.values() for one in view.resources if one.id == id)
        view, resource = next(found, (None, None))
        if view is None or resource is None:
            raise refuse(404, f"there is no resource {id}")
        return self.find(int(view.id), who), resource

    def _view(self, entry: JournalEntry) -> ExperimentView:
        return self._views.get(entry.number) or self._accepted.get(entry.number) or unseen(entry)

    def _catch_up(self) -> None:
        """Index new requests, and the snapshot if it has changed."""
        entries = self._inbox.entries
        while (entry := entries.get(self._indexed + 1)) is not None:
            self._indexed += 1
            if entry.kind == SUBMIT:
                self._owned.add(entry.number, entry)
            elif entry.kind == DELETE and entry.target in entries:
                self._deleted.add(entry.target)
                self._owned.discard(entry.target, entries[entry.target])
        snapshot = self._board.snapshot
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            table = snapshot.tables.get(LIVE_EXPERIMENTS)
            rows = cast(Iterable[ExperimentView], () if table is None else table.rows)
            self._views = {int(row.id): row for row in rows}
            seen = self._views.keys() | self._deleted
            self._accepted = {number: one for number, one in self._accepted.items() if number not in seen}


def unseen(entry: JournalEntry) -> ExperimentView:
    """Return the view of an experiment that the algorithm has not received yet."""
    number, state = str(entry.number), ExperimentState.READY.value
    return ExperimentView(
        number, "", "", entry.user, state, None, None, entry.time, None, None, None, False, "", (), ()
    )
