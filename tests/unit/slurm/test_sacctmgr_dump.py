"""Accounts in a file: lines of `sacctmgr dump`, and commands."""

from __future__ import annotations

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.sacctmgr_dump import read_dump

DUMP = """# To edit this file start with a cluster line for the new cluster
Cluster - 'small':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='the physics: all':Organization='physics':Fairshare=40:QOS='high,normal'
Parent - 'physics'
Account - 'quantum':Fairshare=3:GrpTRES='cpu=8'
User - 'ada':DefaultAccount='physics':Fairshare=10
Parent - 'quantum'
User - 'ada':Fairshare=2:MaxJobs=1
"""


def test_accounts_are_below_their_parents() -> None:
    """With shares, QOS that those below inherit, and limits; QOS without a description have no limits."""
    accounts = read_dump("accounts", DUMP)
    quantum = accounts.by_account["quantum"]
    assert [one.account for one in quantum.path()] == ["quantum", "physics", "root"]
    assert (quantum.shares, quantum.qos, quantum.bounds.grp_tres) == (3, frozenset({"high", "normal"}), {"cpu": 8})
    assert set(accounts.qos) == {"normal", "high"}


def test_the_default_account_of_a_user_is_the_one_named() -> None:
    """Another one can be asked for."""
    accounts = read_dump("accounts", DUMP)
    first, other = accounts.association("ada", None), accounts.association("ada", "quantum")
    assert first is not None
    assert other is not None
    assert (first.account, first.shares, other.bounds.max_jobs) == ("physics", 10, 1)
    assert accounts.association("ada", "chemistry") is None


def test_commands_may_stand_between_entries() -> None:
    """As they are typed, or without the program and its -i."""
    text = f"sacctmgr -i add qos high priority=100\n{DUMP}modify user ada set defaultqos=high\n"
    accounts = read_dump("accounts", text)
    assert accounts.qos["high"].priority == 100
    assert {one.default_qos for one in accounts.by_user["ada"]} == {"high"}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("Parent - 'chemistry'", "must name an account that was described before"),
        ("User - 'ada':Colour=red", "colour is not supported"),
        ("User - 'ada':Fairshare=much", "must be a whole number"),
        ("Account - 'a':Fairshare", "must have options NAME=VALUE, separated by colons"),
        ("modify user eve set fairshare=2", "must name what was added before"),
        ("delete user ada", "must be add or modify of an account, a user or a qos"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, rule: str) -> None:
    """With the file, its number and the rule."""
    with pytest.raises(ConfigurationError) as caught:
        read_dump("accounts", f"{DUMP}{line}\n")
    assert str(caught.value).startswith(f"accounts: line 11: {line}")
    assert rule in str(caught.value)
