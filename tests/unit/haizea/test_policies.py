"""Policies and probes of users' own in configurations (H54, H91 to H93), with the figures of HA-32, HA-44 and HA-45."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from batsched_py.errors import AlgorithmError, ConfigurationError
from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.data import lease_table, read_data, write_data
from batsched_py.haizea.policies import find_policies, find_probes
from batsched_py.haizea.reader import read_config
from batsched_py.haizea.run import run
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.model.table import csv_text
from tests.haizea_cases import CASES
from tests.unit.haizea.configurations import config

#: Listings as the manual has them.
OWN = """
from haizea.core.scheduler.policy import LeaseAdmissionPolicy, PreemptabilityPolicy, HostSelectionPolicy
from haizea.core.leases import Lease
from haizea.common.utils import get_clock
from mx.DateTime import TimeDelta

class NoticeOneHour(LeaseAdmissionPolicy):
    def __init__(self, slottable):
        LeaseAdmissionPolicy.__init__(self, slottable)

    def accept_lease(self, lease):
        if lease.get_type() == Lease.ADVANCE_RESERVATION:
            return lease.start.requested - get_clock().get_time() > TimeDelta(hours=1)
        return True

class ShortFirst(PreemptabilityPolicy):
    def get_lease_preemptability_score(self, preemptor, preemptee, time):
        if preemptor.get_type() == Lease.ADVANCE_RESERVATION and preemptee.get_type() == Lease.BEST_EFFORT:
            return preemptee.duration.requested.seconds / 10000.0
        return -1

class HighIdFirst(HostSelectionPolicy):
    def get_host_score(self, node, time, lease):
        return float(node) / len(self.slottable.nodes)

class NotTheFirst(HostSelectionPolicy):
    def get_host_score(self, node, time, lease):
        return -1 if node == 1 else 1
"""

PROBE = """
from haizea.core.accounting import AccountingProbe, AccountingDataCollection
from haizea.core.leases import Lease

class OddOrEven(AccountingProbe):
    COUNTER = "Best-effort leases"

    def __init__(self, accounting):
        AccountingProbe.__init__(self, accounting)
        self.accounting.create_counter(self.COUNTER, AccountingDataCollection.AVERAGE_NONE)
        self.accounting.create_lease_stat("Odd or even?")
        self.accounting.create_stat("Total best-effort leases")

    def at_lease_request(self, lease):
        if lease.get_type() == Lease.BEST_EFFORT:
            self.accounting.incr_counter(self.COUNTER, lease.id)

    def at_lease_done(self, lease):
        self.accounting.set_lease_stat("Odd or even?", lease.id, "odd" if lease.id % 2 == 1 else "even")

    def finalize_accounting(self):
        self._set_stat_from_counter("Total best-effort leases", self.COUNTER)
"""

NODE = '<res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>'


def request(arrival: str, nodes: int, start: str, duration: str, preemptible: str, *, real: str = "") -> str:
    ended = f'<realduration time="{real}"/>' if real else ""
    return (
        f'<lease-request arrival="{arrival}">{ended}<lease preemptible="{preemptible}">'
        f'<nodes><node-set numnodes="{nodes}">'
        f'{NODE}{start}<duration time="{duration}"/><software><none/></software></lease></lease-request>'
    )


def at(time: str) -> str:
    return f'<start><exact time="{time}"/></start>'


def trace(*requests: str) -> str:
    return f'<lease-workload name="t"><lease-requests>{"".join(requests)}</lease-requests></lease-workload>'


#: HA-2.
QUICKSTART = trace(
    request("00:00:00", 1, "<start/>", "01:00:00", "true"),
    request("00:15:00", 4, at("00:30:00"), "00:30:00", "false"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the quickstart, and with policies and a probe of a user's own."""
    (tmp_path / "own_policies.py").write_text(OWN)
    (tmp_path / "own_probes.py").write_text(PROBE)
    (tmp_path / "leases.lwf").write_text(QUICKSTART)
    return tmp_path


def case(folder: Path, name: str) -> HaizeaConfig:
    """A recorded case, with the classes that it names beside its configuration."""
    shutil.copytree(CASES / name, folder / name)
    (folder / name / "own_policies.py").write_text(OWN)
    return read_config(folder / name / "haizea.conf")


def played(configuration: HaizeaConfig) -> Ledger:
    return run(configuration, lambda line: None).ledger


def ends(ledger: Ledger) -> dict[int, float | None]:
    """Lease -> its end; None for one that was rejected."""
    return {row.lease: row.end_time for row in ledger.lease_rows()}


def runs(ledger: Ledger, kind: str = "vm") -> list[tuple[int, float, float | None, str]]:
    """Leases, starts, ends and hosts of reservations of this kind."""
    return [(row.lease, row.start, row.end, str(row.hosts)) for row in ledger.reservation_rows() if row.kind == kind]


def test_an_admission_policy_of_ones_own_refuses_reservations_that_come_late(tmp_path: Path) -> None:
    """HA-44, plug-admission: an hour of notice is too little, a second more is enough."""
    ledger = played(case(tmp_path, "plug-admission"))
    assert ends(ledger) == {1: None, 2: 3701, 3: 5300, 4: 750, 5: 810}
    assert (2, 3601, 3701, "0") in runs(ledger)


@pytest.mark.parametrize(("start", "found"), [("00:30:00", []), ("02:00:00", [(1, 7200, 9000, "0-3")])])
def test_the_admission_example_of_the_manual(folder: Path, start: str, found: list[object]) -> None:
    """HA-32."""
    (folder / "leases.lwf").write_text(trace(request("00:15:00", 4, at(start), "00:30:00", "false")))
    assert runs(played(config(folder, {"scheduling.policy-admission": "own_policies.NoticeOneHour"}))) == found


def test_a_preemption_policy_of_ones_own_chooses_who_gives_way(tmp_path: Path) -> None:
    """HA-44, plug-preemption: the most preemptable leases go first, here the longest."""
    ledger = played(case(tmp_path, "plug-preemption"))
    assert [row[:3] for row in runs(ledger, "suspend")] == [(2, 968, 1000), (4, 968, 1000)]
    assert ends(ledger) == {1: 3000, 2: 6574, 3: 4520, 4: 5594, 5: 1500}


@pytest.mark.parametrize("name", ["own_policies.HighIdFirst", "own_policies.py:HighIdFirst"])
def test_a_selection_of_ones_own_puts_hosts_in_order(folder: Path, name: str) -> None:
    """HA-44: hosts are numbered from 1 there, and from 0 in what is written."""
    options = {"scheduling.policy-host-selection": name, "scheduling.policy-preemption": "ar-preempts-everything"}
    found = runs(played(config(folder, options)))
    assert found == [(1, 0, 1768, "3"), (2, 1800, 3600, "0-3"), (1, 3632, 5464, "3")]


def test_hosts_with_a_negative_score_are_never_taken(folder: Path) -> None:
    """A lease that needs more than are left is refused; others wait for those that are left."""
    (folder / "leases.lwf").write_text(
        trace(
            request("00:00:00", 4, "<start/>", "00:10:00", "true"),
            request("00:00:00", 4, at("01:00:00"), "00:10:00", "false"),
            *[request("00:00:00", 2, "<start/>", "00:10:00", "true")] * 2,
        )
    )
    ledger = played(config(folder, {"scheduling.policy-host-selection": "own_policies.NotTheFirst"}))
    assert runs(ledger) == [(3, 0, 600, "1-2"), (4, 600, 1200, "1-2")]
    assert ends(ledger) == {1: None, 2: None, 3: 600, 4: 1200}


def test_leases_live_with_a_selection_that_changes_its_mind(folder: Path) -> None:
    """A lease whose promised hosts are taken no more, at an early end, waits until they are."""
    (folder / "own_policies.py").write_text(
        "from haizea.common.utils import get_clock\n"
        "class Moody:\n"
        "    def __init__(self, slottable): pass\n"
        "    def get_host_score(self, node, time, lease):\n"
        "        return -1 if 0 < get_clock().get_time() <= 300 and lease.id == 3 else 1\n"
    )
    (folder / "leases.lwf").write_text(
        trace(
            request("00:00:00", 3, "<start/>", "00:10:00", "true"),
            request("00:00:00", 1, "<start/>", "00:10:00", "true", real="00:05:00"),
            request("00:00:00", 4, "<start/>", "00:10:00", "true"),
            request("00:00:01", 4, at("10:00:00"), "00:10:00", "false"),
        )
    )
    found = runs(played(config(folder, {"scheduling.policy-host-selection": "own_policies.Moody"})))
    assert found == [(1, 0, 600, "0-2"), (2, 0, 300, "3"), (3, 600, 1200, "0-3"), (4, 36000, 36600, "0-3")]


def test_a_probe_of_ones_own_sees_leases_as_in_haizea(folder: Path) -> None:
    """HA-45, of a file beside the configuration."""
    options = {
        "scheduling.policy-preemption": "ar-preempts-everything",
        "accounting.probes": "best-effort own_probes.OddOrEven",
    }
    ledger = played(config(folder, options))
    write_data(folder / "run.dat", ledger.accounting, {})
    assert csv_text(lease_table([read_data(folder / "run.dat")])).splitlines() == [
        "lease_id,Waiting time,Slowdown,Odd or even?",
        "1,0,1.517778,odd",
        "2,,,even",
    ]
    assert ledger.accounting.run_stats["Total best-effort leases"] == 1


def test_a_class_beside_the_configuration_comes_before_an_installed_one(folder: Path) -> None:
    """An installed one is found if there is none: here in a module of the tests."""
    installed = folder / "tests" / "unit" / "haizea" / "test_policies.py"
    name = "tests.unit.haizea.test_policies.Installed"
    find_policies(config(folder, {"scheduling.policy-admission": name}))
    installed.parent.mkdir(parents=True)
    installed.write_text("")
    with pytest.raises(ConfigurationError, match="has no Installed"):
        find_policies(config(folder, {"scheduling.policy-admission": name}))


class Installed:
    """A policy in a module that can be imported."""

    def __init__(self, slottable: object) -> None:
        """Need nothing."""

    def accept_lease(self, lease: object) -> bool:
        """Accept all."""
        return bool(lease)


@pytest.mark.parametrize(
    ("option", "name", "rule"),
    [
        ("scheduling.policy-admission", "nowhere_at_all.Own", "No module named 'nowhere_at_all'"),
        ("scheduling.policy-admission", "own_policies.Missing", "has no Missing"),
        ("scheduling.policy-admission", "own_policies.TimeDelta", "has no method accept_lease"),
        ("scheduling.policy-admission", "missing.py:Own", "no such file"),
        ("scheduling.policy-preemption", "own_policies.HighIdFirst", "has no method get_lease_preemptability_score"),
        ("scheduling.policy-host-selection", "own_policies.ShortFirst", "has no method get_host_score"),
        ("accounting.probes", "ar own_probes.Missing", "has no Missing"),
    ],
)
def test_what_is_not_there_is_one_line(folder: Path, option: str, name: str, rule: str) -> None:
    """It names the file, the option and the rule."""
    configuration = config(folder, {option: name})
    with pytest.raises(ConfigurationError) as error:
        (find_probes if option == "accounting.probes" else find_policies)(configuration)
    assert str(error.value).startswith(f"{folder / 'haizea.conf'}: {option}: ")
    assert rule in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ("float('nan')", "must return a number, not nan"),
        ("'much'", "must return a number, not 'much'"),
        ("None", "must return a number, not None"),
        ("1 / 0", "it raised ZeroDivisionError: division by zero"),
    ],
)
def test_an_answer_that_makes_no_sense_names_the_class_and_the_lease(folder: Path, answer: str, rule: str) -> None:
    """H91."""
    (folder / "own_policies.py").write_text(
        "from haizea.core.scheduler.policy import PreemptabilityPolicy\n"
        "class Odd(PreemptabilityPolicy):\n"
        f"    def get_lease_preemptability_score(self, preemptor, preemptee, time): return {answer}\n"
    )
    with pytest.raises(AlgorithmError) as error:
        played(config(folder, {"scheduling.policy-preemption": "own_policies.Odd"}))
    told = str(error.value)
    assert "policy own_policies:Odd: get_lease_preemptability_score of lease 1 at t=900: " in told
    assert rule in told


def test_nothing_of_haizea_stays_behind(folder: Path) -> None:
    """Its modules are there only while a file is loaded."""
    played(config(folder, {"scheduling.policy-admission": "own_policies.NoticeOneHour"}))
    assert not [name for name in sys.modules if name.partition(".")[0] in ("haizea", "mx", "own_policies")]
