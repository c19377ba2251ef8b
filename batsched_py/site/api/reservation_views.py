"""Views of reservations, of the machines in them, and of resources on the board, by owner."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from batsched_py.experiments.parsing.submissions import RESERVE, SUBMIT, WITHDRAW
from batsched_py.experiments.reservation_views import LIVE_RESERVATIONS, ReservationView
from batsched_py.experiments.resource_manager import RESERVATIONS
from batsched_py.experiments.states import OVER, ReservationState
from batsched_py.hostset import HostSet
from batsched_py.site.api.experiment_xml import PATH
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.owned_views import OwnedViews
from batsched_py.site.api.problems import refuse
from batsched_py.site.api.selection import ItemSelection, SelectedItems, select
from batsched_py.site.journal import JournalEntry
from batsched_py.text.display import shown

#: The number of a reservation; and its id with that number.
_DIGITS: Final = re.compile(r"[1-9][0-9]{0,15}")
_ID: Final = re.compile(rf"{RESERVATIONS}/({_DIGITS.pattern})")
_OVER: Final = frozenset(state.value for state in OVER)


class ReservedMachine(Struct, frozen=True):
    """A machine of a reservation.

    Attributes:
        href: its address in the API, which is also its id, for `reserved` of a compute.
        location: its location; None if only its host is determined.
        type: its type of instances.
        host: number of its host, planned or used; None if unknown.
        resource: the address of the resource that uses it; None if it is free.
    """

    href: str
    location: str | None
    type: str
    host: int | None
    resource: str | None


class SummarisedReservation(Struct, frozen=True):
    """A reservation; times are in simulated seconds.

    Attributes:
        href: its address in the API, which is also its id, for `reservation` of an experiment.
        number: assigned by the site; that of its experiment, if it was made for one.
        name, description: texts of the descriptor.
        owner: the user whose experiments may use it.
        state: PENDING, RUNNING, ENDED, FAILED or TERMINATED.
        requested: when it was requested.
        start, end: its begin and end, planned or real; None if unknown.
        reason: why it has failed or ended early, or which machines were left out.
        experiment: the address of the experiment for which it was made; None for a user's own.
        machines: the number of its machines.
        hosts: the numbers of its hosts, planned or used, as an interval set; "" if none is known.
    """

    href: str
    number: int
    name: str
    description: str
    owner: str
    state: str
    requested: float
    start: float | None
    end: float | None
    reason: str
    experiment: str | None
    machines: int
    hosts: str


class DetailedReservation(SummarisedReservation, frozen=True):
    """A reservation with its machines.

    Attributes:
        href: its address in the API, which is also its id, for `reservation` of an experiment.
        number: assigned by the site; that of its experiment, if it was made for one.
        name, description: texts of the descriptor.
        owner: the user whose experiments may use it.
        state: PENDING, RUNNING, ENDED, FAILED or TERMINATED.
        requested: when it was requested.
        start, end: its begin and end, planned or real; None if unknown.
        reason: why it has failed or ended early, or which machines were left out.
        experiment: the address of the experiment for which it was made; None for a user's own.
        machines: the number of its machines.
        hosts: the numbers of its hosts, planned or used, as an interval set; "" if none is known.
        resources: its machines, in the order of the descriptor.
    """

    resources: list[ReservedMachine]


class ReservationIndex(OwnedViews[ReservationView]):
    """An index of reservations: of users' own, and of those made for experiments."""

    made_by, deleted_by, table = RESERVE, WITHDRAW, LIVE_RESERVATIONS

    @staticmethod
    def number_of(view: ReservationView) -> int:
        """Return the number of a reservation."""
        return int(view.id.rpartition("/")[2])

    @staticmethod
    def unseen(entry: JournalEntry) -> ReservationView:
        """Return the view of a reservation that the algorithm has not received yet."""
        state, id = ReservationState.PENDING.value, f"{RESERVATIONS}/{entry.number}"
        return ReservationView(id, "", "", entry.user, state, entry.time, None, None, "", None, ())

    def find(self, number: int, who: Identity) -> ReservationView:
        """Return a reservation.

        RequestRefusedError if there is none, it was deleted, or the caller may not read it.
        """
        entry = self._entry(number)
        if not who.may_read(entry.user, entry.group):
            raise refuse(403, "it belongs to another user")
        return self._view(entry)

    def check_deletable(self, number: int, who: Identity) -> None:
        """Raise RequestRefusedError unless the caller may delete a reservation: its own; as an operator, any user's."""
        entry = self._entry(number)
        if not who.may_change(entry.user):
            raise refuse(403, "only the user who requested it, or an operator, may delete it")
        if entry.kind == SUBMIT:
            raise refuse(409, f"it was made for experiment {number}: delete that")

    def check_usable(self, id: str, who: Identity) -> None:
        """Raise RequestRefusedError if a new experiment of the caller cannot use a reservation."""
        self._catch_up()
        found = _ID.fullmatch(id)
        entry = None if found is None else self._inbox.entries.get(int(found[1]))
        if entry is None or entry.kind != RESERVE or entry.number in self._deleted:
            hint = f": did you mean {RESERVATIONS}/{id}?" if _DIGITS.fullmatch(id) else ""
            raise refuse(422, f"there is no reservation {shown(id)} of yours{hint}", "reservation")
        if entry.user != who.user:
            raise refuse(403, f"{id} belongs to another user", "reservation")
        if (state := self._view(entry).state) in _OVER:
            raise refuse(409, f"{id} is over: {state}", "reservation")

    def readable(self, who: Identity, wanted: ItemSelection) -> tuple[list[ReservationView], SelectedItems]:
        """Return the selected reservations that a caller may read."""
        self._catch_up()
        entries = self._inbox.entries
        numbers = list(self._owned.of(who, wanted.user))
        for number, view in self._views.items():
            if view.experiment is not None and number in entries:
                entry = entries[number]
                if who.may_read(entry.user, entry.group) and wanted.user in ("", entry.user):
                    numbers.append(number)

        def fits(number: int) -> bool:
            view = self._view(entries[number])
            return wanted.fits(view.state, (view.id, view.owner, view.name, view.description, view.reason))

        found = select(sorted(numbers), wanted, fits)
        return [self._view(entries[number]) for number in found.numbers], found

    def _entry(self, number: int) -> JournalEntry:
        """Return the request of a reservation; RequestRefusedError if there is none, or it was deleted."""
        self._catch_up()
        entry = self._inbox.entries.get(number)
        of_user = entry is not None and entry.kind == RESERVE and number not in self._deleted
        of_experiment = entry is not None and entry.kind == SUBMIT and number in self._views
        if entry is None or not (of_user or of_experiment):
            raise refuse(404, f"there is no reservation {number}")
        return entry


def summary(view: ReservationView) -> SummarisedReservation:
    """Return a reservation without its machines."""
    return SummarisedReservation(
        view.id,
        ReservationIndex.number_of(view),
        view.name,
        view.description,
        view.owner,
        view.state,
        view.requested,
        view.start,
        view.end,
        view.reason,
        None if view.experiment is None else f"{PATH}/{view.experiment}",
        len(view.machines),
        str(HostSet.from_ids(host for machine in view.machines if (host := machine.host) is not None)),
    )


def details(view: ReservationView) -> DetailedReservation:
    """Return a reservation with its machines."""
    resources = [ReservedMachine(*machine) for machine in view.machines]
    return DetailedReservation(**asdict(summary(view)), resources=resources)
