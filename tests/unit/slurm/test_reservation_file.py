"""Advance reservations in the output of scontrol: what is read, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.conf_reader import read_configuration
from batsched_py.slurm.reservation_file import past_line, read_date, read_reservations
from batsched_py.slurm.reservations import AdvanceReservation

CONFIGURATION = read_configuration(
    {"slurm.conf": "NodeName=n[1-4] CPUs=4\nPartitionName=p Nodes=ALL\nLicenses=matlab:4\n"}
)
ZERO = datetime(2024, 5, 31, 8, tzinfo=UTC)
#: As scontrol of Slurm 22.05 prints it.
TEXT = """\
ReservationName=r StartTime=2024-05-31T09:00:00 EndTime=2024-05-31T11:00:00 Duration=02:00:00
   Nodes=n[1-2,4] NodeCnt=3 CoreCnt=12 Features=(null) PartitionName=(null) Flags=MAGNETIC,SPEC_NODES
   TRES=cpu=12
   Users=ada,bob Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)

ReservationName=l StartTime=2024-05-31T07:00:00 EndTime=2024-05-31T08:30:00 Duration=01:30:00
   Nodes= NodeCnt=0 CoreCnt=0 Features=(null) PartitionName=(null) Flags=ANY_NODES
   TRES=(null)
   Users=(null) Groups=(null) Accounts=math Licenses=matlab:2 State=ACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)
"""


def read(text: str) -> tuple[AdvanceReservation, ...]:
    return read_reservations("res.txt", text, CONFIGURATION, ZERO)


def test_times_nodes_and_users_are_read() -> None:
    """Times are seconds from time 0; nodes are bits in the order of the configuration."""
    first, second = read(TEXT)
    assert (first.name, first.start, first.end, first.nodes) == ("r", 3600, 3 * 3600, 0b1011)
    assert [*map(set, (first.users, first.accounts, first.flags))] == [{"ada", "bob"}, set(), {"magnetic"}]
    assert (second.start, second.end, second.nodes) == (-3600, 1800, 0)
    assert [*map(set, (second.users, second.accounts, second.flags))] == [set(), {"math"}, {"any_nodes"}]
    assert (first.licences, second.licences) == ((), (("matlab", 2),))


def test_one_line_and_seconds_since_1970_are_read() -> None:
    """With --oneliner, and SLURM_TIME_FORMAT=%s."""
    line = " ".join(TEXT.split("\n\n", maxsplit=1)[0].split())
    start = int(ZERO.timestamp()) + 3600
    line = line.replace("2024-05-31T09:00:00", str(start)).replace("2024-05-31T11:00:00", str(start + 7200))
    expected, found = read(TEXT)[0], read(line)[0]
    assert [getattr(found, name) for name in AdvanceReservation.__slots__] == [
        getattr(expected, name) for name in AdvanceReservation.__slots__
    ]


def test_there_may_be_none() -> None:
    """As scontrol says it."""
    assert read("No reservations in the system\n") == read("") == ()


def test_users_and_accounts_must_both_match() -> None:
    """If both are listed; otherwise the one that is."""
    both = read(TEXT.replace("Accounts=(null)", "Accounts=math"))[0]
    assert [both.permits(*one) for one in (("ada", "math"), ("ada", "bio"), ("eve", "math"))] == [True, False, False]
    users, accounts = read(TEXT)
    assert [users.permits("ada", None), users.permits("eve", "math")] == [True, False]
    assert [accounts.permits("eve", "math"), accounts.permits("ada", None)] == [True, False]


def test_past_reservations_are_named() -> None:
    """Up to five of them."""
    made = [AdvanceReservation(f"r{number}", -10, float(number - 6)) for number in range(8)]
    expected = "reservations that ended before the start, without effect: r0, r1, r2, r3, r4 and 2 more"
    assert past_line(made, 0.0) == expected
    assert past_line(made[7:], 0.0) == ""


def test_dates() -> None:
    """With a zone or without."""
    assert read_date("2024-05-31T10:00:00+02:00") == ZERO == read_date("2024-05-31T08:00:00")
    with pytest.raises(ValueError, match="must be a date such as"):
        read_date("tomorrow")


FLAGS = ("DAILY", "HOURLY", "WEEKLY", "WEEKDAY", "WEEKEND", "FLEX", "TIME_FLOAT", "REPLACE", "REPLACE_DOWN")


@pytest.mark.parametrize("flag", [*FLAGS, "FIRST_CORES", "NO_HOLD_JOBS_AFTER", "PURGE_COMP=00:05:00", "NEW"])
def test_flags_that_are_not_supported_are_refused_by_name(flag: str) -> None:
    """With file, line and field."""
    with pytest.raises(ConfigurationError) as error:
        read(TEXT.replace("SPEC_NODES", flag))
    assert str(error.value).startswith(f"res.txt: line 2: Flags: must not have {flag}, which is not supported")


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ("n[1-2,4] NodeCnt=3", "n[1-9] NodeCnt=9", "line 2: Nodes: must be nodes of the configuration, which lacks n5"),
        ("NodeCnt=3", "NodeCnt=2", "line 2: NodeCnt: must be 3, the number of Nodes, not 2"),
        ("CoreCnt=12", "CoreCnt=6", "line 2: CoreCnt: must be 12, all cores of Nodes, not 6: parts of nodes"),
        ("   TRES=cpu=12", "     NodeName=n1 CoreIDs=0-1", "line 3: NodeName: must not be there: parts of nodes"),
        ("Users=ada,bob", "Users=-ada", "line 4: Users: must be names that may use the reservation; names with -"),
        ("Users=ada,bob", "Users=(null)", "line 1: ReservationName: must have Users or Accounts"),
        ("Nodes=n[1-2,4] NodeCnt=3 CoreCnt=12", "Nodes=(null)", "line 1: ReservationName: must have Nodes or Licenses"),
        ("Groups=(null)", "Groups=g", "line 4: Groups: must be (null), as groups of users are unknown here, not g"),
        ("BurstBuffer=(null)", "BurstBuffer=2", "line 4: BurstBuffer: must be (null), as burst buffers"),
        ("MaxStartDelay=(null)", "MaxStartDelay=1", "line 5: MaxStartDelay: must be (null), as it is not supported"),
        ("StartTime=2024-05-31T09:00:00", "StartTime=soon", "line 1: StartTime: must be a date such as"),
        ("StartTime=2024-05-31T09:00:00", "", "line 1: ReservationName: must have StartTime and EndTime"),
        ("EndTime=2024-05-31T11:00:00", "EndTime=2024-05-31T09:00:00", "line 1: EndTime: must be after StartTime"),
        ("ReservationName=r", "ReservationName=(null)", "line 1: ReservationName: must be a name"),
        ("ReservationName=r", "ReservationName=l", "line 7: ReservationName: is there twice"),
        ("ReservationName=r ", "", "line 1: StartTime: must come after ReservationName=NAME"),
        ("TRES=cpu=12", "Foo=1", "line 3: Foo: is not a known field of a reservation"),
        ("TRES=cpu=12", "Users=eve", "line 4: Users: is there twice in one reservation"),
        ("TRES=cpu=12", "what \x1b[2J", "line 3: what: must be fields NAME=VALUE, as `scontrol show reservation`"),
        ("Licenses=(null)", "Licenses=a:b", "line 4: Licenses: must be a whole number, not a:b"),
        (
            "Licenses=(null)",
            "Licenses=matlab:-5",
            "line 4: Licenses: must be different licences such as",
        ),
        (
            "Licenses=(null)",
            "Licenses=matlab:5",
            "line 4: Licenses: must be licences of the configuration, which has 4",
        ),
        ("Licenses=(null)", "Licenses=nope", "line 4: Licenses: must be licences of the configuration, which has 0"),
        ("Licenses=(null)", "Licenses=:3", "line 4: Licenses: must be different licences"),
    ],
)
def test_faults_name_file_line_and_field(before: str, after: str, rule: str) -> None:
    """Each fault with its rule."""
    assert before in TEXT
    with pytest.raises(ConfigurationError) as error:
        read(TEXT.replace(before, after, 1))
    assert str(error.value).startswith(f"res.txt: {rule}")
