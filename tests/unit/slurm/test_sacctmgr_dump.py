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


def test_an_account_has_one_place_in_the_tree() -> None:
    """An entry below another account would otherwise change it where it is."""
    text = "add account math\nadd account logic parent=math\nCluster - 'c'\nParent - 'root'\nAccount - 'math'\n"
    assert read_dump("d", text).by_account["math"].account == "math"
    with pytest.raises(
        ConfigurationError, match="d: line 6: Account - 'logic': is below math, and cannot be below root"
    ):
        read_dump("d", f"{text}Account - 'logic'\n")


def test_qos_may_be_added_and_removed_in_one_command() -> None:
    """As sacctmgr takes them, in their order; CLUSTER is the mode of preemption of slurm.conf."""
    text = (
        "add qos a PreemptMode=cluster\nadd qos b PreemptMode=requeue\nmodify user root set qos+=a qos+=b qos-=normal\n"
    )
    accounts = read_dump("d", text)
    assert accounts.by_user["root"][0].qos == {"a", "b"}
    assert [accounts.qos[name].preempt_mode for name in "ab"] == [None, "REQUEUE"]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("Parent - 'chemistry'", "must name an account that was described before"),
        ("User - 'bob':Colour=red", "colour is not supported"),
        ("User - 'bob':Fairshare=much", "must be a whole number"),
        ("Account - 'a':Fairshare", "must have options NAME=VALUE, separated by colons"),
        ("modify user eve set fairshare=2", "must name what was added before"),
        ("Account - 'bio':Fairshare=1:Fairshare=2", "fairshare is given twice"),
        ("Account - 'bio':MaxSubmit=1:MaxSubmitJobs=2", "maxsubmitjobs is given twice"),
        ("Account - 'bio':Description='a':Description='b'", "description is given twice"),
        ("Account - 'bio':GrpTRES='cpu=1,cpu=2'", "cpu is given twice"),
        ("Account - 'bio':Fairshare=-1", "must be a whole number from 0"),
        ("Account - 'bio':Priority=-1", "must be a whole number from 0"),
        ("Account - 'physics':Fairshare=1", "is there twice"),
        ("User - 'ada':Fairshare=1", "is there twice"),
        ("Cluster - 'other':QOS='normal'", "must be the only cluster"),
        ("add account physics", "account physics is there already: change it with modify"),
        ("add user ada account=quantum", "user ada of account quantum is there already: change it with modify"),
        ("add user eve fairshare=1", "must have account=NAME"),
        ("add qos normal priority=1", "QOS normal is there already: change it with modify"),
        ("add qos big account=physics", "account is not supported"),
        ("add qos big priority=-1", "must be a whole number from 0"),
        ("add qos big GraceTime=-1", "must be a whole number from 0"),
        ("add qos big PreemptMode=now", "must be CLUSTER or CANCEL or REQUEUE or SUSPEND"),
        ("modify user ada set qos+=a qos=b", "qos is given twice"),
        ("delete user ada", "must be add or modify of an account, a user or a qos"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, rule: str) -> None:
    """With the file, its number and the rule."""
    with pytest.raises(ConfigurationError) as caught:
        read_dump("accounts", f"{DUMP}{line}\n")
    assert str(caught.value).startswith(f"accounts: line 11: {line}")
    assert rule in str(caught.value)
