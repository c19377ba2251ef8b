"""Validation of experiments: rules between the members of a document, and rules of the testbed (M7).

All rules are checked before anything is stored, in both formats of documents; each fault has its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import Fault, QueryError, WorkloadError
from batsched_py.experiments.contexts import context_keys
from batsched_py.experiments.deployment_order import (
    DependencyCycleError,
    instance_names,
    needed_by_each,
    resource_order,
)
from batsched_py.experiments.model import (
    CUSTOM,
    KINDS,
    AddressOf,
    Compute,
    Experiment,
    Network,
    Reference,
    Resource,
    Router,
    SiteLink,
    Storage,
)
from batsched_py.experiments.testbed import Testbed
from batsched_py.queries.parser import parse
from batsched_py.reading.faults import FieldError, Place
from batsched_py.text.display import displayed
from batsched_py.text.wording import did_you_mean, seconds, unknown
from batsched_py.timelines.parsing import EVERY_VM, parse_timelines

# All faults of a document are reported together, each with its path, before anything is stored: a user of an HTTP
# interface should not have to find them one by one. Rules of single members are in their readers; this module contains
# those that involve other members, the testbed or the time. Names come first, since everything else refers to resources
# by name.
#
# The limits count instances and not lines, because a few lines (`count`) can describe millions; they are checked before
# anything is expanded. Suggestions for misspelled names compare with a few hundred names at most, as this costs time
# for each pair.

#: Maximum number of resources of one experiment, including instances.
MOST_RESOURCES: Final = 10_000
#: Maximum number of timeline entries of one experiment, including instances.
MOST_ENTRIES: Final = 100_000
#: Maximum number of dependencies between instances, or other resources.
MOST_PAIRS: Final = 100_000


class Situation(Struct, frozen=True):
    """The circumstances in which a document is validated.

    Attributes:
        testbed: the testbed.
        now: second of the simulation.
        reservations: whether experiments are deployed in reservations (M28).
    """

    testbed: Testbed = Testbed()
    now: float = 0.0
    reservations: bool = True


def validate(experiment: Experiment, paths: Sequence[str], place: Place, situation: Situation) -> None:
    """Note all rules that an experiment violates.

    Args:
        experiment: the experiment with valid members, and its aggregator.
        paths: paths of its resources in the document.
        place: the place of the document, which gets the faults.
        situation: the testbed and the time.
    """
    _Validation(experiment, paths, place, situation).run()


class _Validation:
    def __init__(self, experiment: Experiment, paths: Sequence[str], place: Place, situation: Situation) -> None:
        self._experiment, self._document, self._situation = experiment, place, situation
        self._testbed = situation.testbed
        self._placed = [(place.at(path), resource) for path, resource in zip(paths, experiment.resources, strict=True)]
        self._known: Mapping[str, Resource] = {one.name: one for one in experiment.resources}

    def run(self) -> None:
        """Check all rules; those that require unique names last."""
        self._check_start()
        if not self._check_names():
            return
        for place, resource in self._placed:
            self._check_resource(place, resource)
        self._check_reserved()
        self._check_sets()
        self._check_timelines()
        self._check_order()

    # The whole document

    def _check_start(self) -> None:
        experiment, now = self._experiment, self._situation.now
        start = experiment.start
        if start is not None and start < now:
            past = f"second {seconds(start)} is in the past: now is second {seconds(now)}"
            (self._document / "start").note(past if start >= 0 else "is in the past: before the simulation began")
        if not self._situation.reservations:
            for member, value in (("start", start), ("reservation", experiment.reservation)):
                if value is not None:
                    (self._document / member).note("needs reservations, which are off here")

    def _check_names(self) -> bool:
        """Check that names of resources and instances are unique, and their number is within the limit."""
        total = sum(one.count if isinstance(one, Compute) else 1 for one in self._experiment.resources)
        if total > MOST_RESOURCES:
            (self._document / "resources").note(f"must be at most {MOST_RESOURCES} with all instances, not {total}")
            return False
        owners, unique = dict[str, str](), True
        for place, resource in self._placed:
            clashes = [name for name in (resource.name, *instance_names(resource)) if name in owners]
            if clashes:
                owner, name = owners[clashes[0]], displayed(clashes[0])
                text = f"instance {name} of {displayed(owner)}" if owner != clashes[0] else "another resource"
                (place / "name").note(f"{name} is the name of {text}")
                unique = False
            for name in (resource.name, *instance_names(resource)):
                owners.setdefault(name, resource.name)
        return unique

    def _check_order(self) -> None:
        needs = needed_by_each(self._experiment)
        counts = {one.name: one.count if isinstance(one, Compute) else 1 for one in self._experiment.resources}
        pairs = sum(counts[name] * sum(counts[one] for one in needed) for name, needed in needs.items())
        if pairs > MOST_PAIRS:
            (self._document / "resources").note(
                f"must have at most {MOST_PAIRS} dependencies between instances, not {pairs}"
            )
        try:
            resource_order(needs)
        except DependencyCycleError as error:
            first = next(place for place, one in self._placed if one.name == error.names[0])
            first.note(str(error))

    def _check_sets(self) -> None:
        where, of = (self._document / "resource_set"), dict[str, str]()
        for name, members in self._experiment.resource_sets.items():
            for index, member in enumerate(members):
                place = (where / name)[index]
                if not isinstance(self._known.get(member), Compute):
                    place.note(self._unknown(member, Compute))
                elif of.setdefault(member, name) != name or members.index(member) != index:
                    place.note(f"{displayed(member)} is in the set {displayed(of[member])} already")

    def _check_reserved(self) -> None:
        used = set[str]()
        for place, one in self._computes():
            if not one.reserved:
                continue
            where = place / "reserved"
            if self._experiment.reservation is None:
                where.note("needs a reservation, but the experiment names none")
            if len(one.reserved) != one.count:
                where.note(f"must name {one.count}, one for each instance, not {len(one.reserved)}")
            for index, id in enumerate(one.reserved):
                if id in used:
                    where[index].note(f"{displayed(id)} is used already")
                used.add(id)

    def _check_timelines(self) -> None:
        """Check the timelines of all instances together, since they may reference each other."""
        vms: dict[str, Any] = {}
        fields = dict[str, Place]()
        for place, one in self._computes():
            for number, name in enumerate(instance_names(one)):
                vms[name] = list(one.timeline) if one.timeline is not None and number == 0 else []
            if one.timeline is None:
                continue
            where = place / "timeline"
            fields[f"vms.{displayed(instance_names(one)[0])}["] = where
            if one.name == EVERY_VM:
                where.note(f"{EVERY_VM} cannot be the name of a VM with a timeline")
                return
            for key in dict.fromkeys(context_keys(one.timeline)):
                if key not in one.contexts:
                    where.note(f"${{ctx.{displayed(key)}}}: the compute has no such context")
        entries = sum(one.count * len(one.timeline or ()) for _, one in self._computes())
        if entries > MOST_ENTRIES:
            text = f"must have timelines of at most {MOST_ENTRIES} entries with all instances, not {entries}"
            (self._document / "resources").note(text)
            return
        if not fields:
            return
        try:
            parse_timelines("", {"vms": {name: entries for name, entries in vms.items() if name != EVERY_VM}})
        except WorkloadError as error:
            self._note_timelines(error.faults, fields)

    @staticmethod
    def _note_timelines(faults: Iterable[Fault], fields: Mapping[str, Place]) -> None:
        for path, rule in faults:
            start = max((prefix for prefix in fields if path.startswith(prefix)), key=len)
            fields[start].add(FieldError(path[len(start) - 1 :], rule))

    # One resource

    def _check_resource(self, place: Place, resource: Resource) -> None:
        for index, name in enumerate(resource.after):
            if name not in self._known:
                (place / "after")[index].note(self._unknown(name))
        if isinstance(resource, Compute):
            self._check_compute(place, resource)
        elif isinstance(resource, SiteLink):
            for index, location in enumerate(resource.endpoints):
                self._check_location((place / "endpoints")[index], location)
            if resource.endpoints[0] == resource.endpoints[1]:
                (place / "endpoints").note(f"must be two locations, not {displayed(resource.endpoints[0])} twice")
        else:
            self._check_location(place / "location", resource.location)
            if isinstance(resource, Router):
                self._check_references(place / "networks", resource.networks, (Network,), (resource.location,))

    def _check_compute(self, place: Place, one: Compute) -> None:
        self._check_where(place, one)
        types = self._testbed.instance_types
        if isinstance(one.instance_type, str) and one.instance_type not in types:
            name = one.instance_type
            (place / "instanceType").note(f"{displayed(name)}: {unknown(name, [*types, CUSTOM])}")
        self._check_references(place / "resources", one.storages, (Storage,), one.locations)
        self._check_references(place / "resources", one.networks, (Network, SiteLink, Router), one.locations)
        for key, value in one.contexts.items():
            if isinstance(value, AddressOf):
                self._check_address(place / "contexts" / key, value)
        named = set[str]()
        for index, metric in enumerate(one.metrics):
            if metric.name in named:
                (place / "metrics")[index].note(f"{displayed(metric.name)} is given twice")
            named.add(metric.name)

    def _check_where(self, place: Place, one: Compute) -> None:
        if one.locations and one.constraint is not None:
            (place / "constraint").note("cannot be combined with locations")
        if not one.locations and one.constraint is None:
            (place / "locations").note("is missing: name a location, or give a constraint")
        for index, location in enumerate(one.locations):
            self._check_location((place / "locations")[index], location)
        if one.constraint is not None:
            try:
                parse(one.constraint)
            except QueryError as error:
                (place / "constraint").note(str(error))

    def _check_address(self, place: Place, address: AddressOf) -> None:
        compute = self._known.get(address.compute)
        if not isinstance(compute, Compute):
            place.note(self._unknown(address.compute, Compute))
        elif compute.networks and address.network not in [one.name for one in compute.networks]:
            place.note(f"{displayed(compute.name)} is not in the network {displayed(address.network)}")

    def _check_location(self, place: Place, name: str) -> None:
        locations = self._testbed.locations
        if locations is not None and name not in locations:
            place.note(f"{displayed(name)}: {unknown(name, locations)}")

    def _check_references(
        self, place: Place, references: Iterable[Reference], kinds: tuple[type[Resource], ...], locations: Sequence[str]
    ) -> None:
        for one in references:
            if not one.exists:
                if not isinstance(self._known.get(one.name), kinds):
                    place.note(self._unknown(one.name, *kinds))
            elif not one.is_uri:
                for location in dict.fromkeys(locations):
                    self._check_catalogue(place, one, location, is_storage=kinds == (Storage,))

    def _check_catalogue(self, place: Place, reference: Reference, location: str, *, is_storage: bool) -> None:
        """Check that an existing resource is at the location of its use, if the catalogue is known (M33)."""
        found = (self._testbed.locations or {}).get(location)
        if found is None:
            return
        storages, networks = found.storages, found.networks
        right, wrong = (storages, networks) if is_storage else (networks, storages)
        if right is None or reference.name in right:
            return
        kind, other = ("storage", "network") if is_storage else ("network", "storage")
        name = displayed(str(reference))
        if wrong is not None and reference.name in wrong:
            place.note(f"{name} is a {other} at {displayed(location)}, and must be a {kind}")
            return
        locations = self._locations_of(reference.name, is_storage=is_storage)
        hint = f"; it is at {', '.join(locations)}" if locations else ""
        question = "" if locations else did_you_mean(reference.name, sorted(right))
        hint = f"; {question}" if question else hint
        place.note(f"{name}: there is no such {kind} at {displayed(location)}{hint}")

    def _locations_of(self, name: str, *, is_storage: bool) -> list[str]:
        """Return the locations with a resource of this name."""
        catalogues = (
            (location, one.storages if is_storage else one.networks)
            for location, one in (self._testbed.locations or {}).items()
        )
        return [displayed(location) for location, names in catalogues if names is not None and name in names]

    def _computes(self) -> Iterable[tuple[Place, Compute]]:
        return ((place, one) for place, one in self._placed if isinstance(one, Compute))

    def _unknown(self, name: str, *kinds: type[Resource]) -> str:
        """Return the message about a name unknown among resources of these kinds; of any kind, if none are given."""
        wanted = " or ".join(map(_kind, kinds)) or "resource"
        if name in self._known:
            return f"{displayed(name)} is a {_kind(type(self._known[name]))}, and must be a {wanted}"
        names = [one.name for one in self._known.values() if not kinds or isinstance(one, kinds)]
        question = did_you_mean(name, names)
        return f"{displayed(name)}: the experiment has no such {wanted}{'; ' if question else ''}{displayed(question)}"


def _kind(kind: type[Resource]) -> str:
    return KINDS[kind].replace("_", " ")
