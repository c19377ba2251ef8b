"""Views of experiments on the board, by owner."""

from __future__ import annotations

from collections.abc import Iterable

from batsched_py.experiments.parsing.submissions import DELETE, SUBMIT
from batsched_py.experiments.states import ExperimentState
from batsched_py.experiments.views import LIVE_EXPERIMENTS, ExperimentView, ResourceView
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.owned_views import OwnedViews
from batsched_py.site.api.problems import refuse
from batsched_py.site.api.selection import ItemSelection, SelectedItems, select
from batsched_py.site.journal import JournalEntry


class Experiments(OwnedViews[ExperimentView]):
    """An index of experiments."""

    made_by, deleted_by, table = SUBMIT, DELETE, LIVE_EXPERIMENTS

    @staticmethod
    def number_of(view: ExperimentView) -> int:
        """Return the number of an experiment."""
        return int(view.id)

    @staticmethod
    def unseen(entry: JournalEntry) -> ExperimentView:
        """Return the view of an experiment that the algorithm has not received yet."""
        number, state = str(entry.number), ExperimentState.READY.value
        return ExperimentView(
            number, "", "", entry.user, state, None, None, entry.time, None, None, None, False, "", (), ()
        )

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

    def readable(self, who: Identity, wanted: ItemSelection) -> tuple[list[ExperimentView], SelectedItems]:
        """Return the selected experiments that a caller may read."""
        self._catch_up()
        entries = self._inbox.entries

        def fits(number: int) -> bool:
            view = self._view(entries[number])
            return wanted.fits(view.status, (view.id, view.owner, view.name, view.description, view.failure))

        found = select(self._owned.of(who, wanted.user), wanted, fits)
        return [self._view(entries[number]) for number in found.numbers], found

    def those(self, numbers: Iterable[int], who: Identity) -> list[ExperimentView]:
        """Return those of these experiments that a caller may read and that were not deleted, ordered by number."""
        self._catch_up()
        entries = self._inbox.entries
        found = (entries[number] for number in sorted(numbers) if number in entries and number not in self._deleted)
        return [self._view(entry) for entry in found if entry.kind == SUBMIT and who.may_read(entry.user, entry.group)]

    def deleted(self, numbers: Iterable[int], who: Identity) -> list[int]:
        """Return those of these deleted experiments that a caller was allowed to read."""
        entries = self._inbox.entries
        found = (entries[number] for number in sorted(numbers) if number in entries)
        return [entry.number for entry in found if who.may_read(entry.user, entry.group)]

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
