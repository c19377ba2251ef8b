"""Accounts, users and QOS of the accounting data base, as `sacctmgr` sets them up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class UsageBounds:
    """Limits of a QOS or an association; no entry is no limit.

    Attributes:
        grp_jobs, max_jobs, grp_submit, max_submit: numbers of running jobs, and of all jobs.
        max_jobs_user, max_submit_user: the same for each user of a QOS.
        grp_tres, max_tres_job, max_tres_user, grp_tres_mins, grp_tres_run_mins: amounts by resource.
        max_wall: minutes.
    """

    grp_jobs: int | None = None
    grp_submit: int | None = None
    max_jobs: int | None = None
    max_submit: int | None = None
    max_jobs_user: int | None = None
    max_submit_user: int | None = None
    max_wall: int | None = None
    grp_tres: dict[str, int] = field(default_factory=dict)
    grp_tres_run_mins: dict[str, int] = field(default_factory=dict)
    max_tres_job: dict[str, int] = field(default_factory=dict)
    max_tres_user: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Qos:
    """A quality of service; exempt and grace times in seconds."""

    name: str
    priority: int = 0
    #: Names of the QOS whose jobs its jobs may preempt.
    preempts: frozenset[str] = frozenset()
    preempt_mode: str | None = None
    exempt: float | None = None
    grace: int = 0
    flags: frozenset[str] = frozenset()
    bounds: UsageBounds = field(default_factory=UsageBounds)


@dataclass(slots=True, eq=False)
class Association:
    """An account, or a user of an account, in the tree of accounts; usage in processor seconds, decayed."""

    account: str
    user: str | None
    parent: Association | None
    shares: int = 1
    priority: int = 0
    qos: frozenset[str] = frozenset({"normal"})
    default_qos: str = "normal"
    bounds: UsageBounds = field(default_factory=UsageBounds)
    children: list[Association] = field(default_factory=list)
    usage: float = 0.0

    def path(self) -> Iterator[Association]:
        """Yield it and those above it, up to the root."""
        here: Association | None = self
        while here is not None:
            yield here
            here = here.parent


class Accounts:
    """The tree of associations and the QOS of one cluster."""

    def __init__(self) -> None:
        self.root = Association("root", None, None)
        self.root.children.append(Association("root", "root", self.root))
        #: Associations of accounts, by name.
        self.by_account: dict[str, Association] = {"root": self.root}
        #: Associations of users, in the order of addition; the first is the default.
        self.by_user: dict[str, list[Association]] = {"root": [self.root.children[0]]}
        self.qos: dict[str, Qos] = {"normal": Qos("normal")}

    def add_account(self, name: str, parent: str) -> Association:
        """Add an account below another; return its association."""
        above = self.by_account[parent]
        made = Association(name, None, above, qos=above.qos)
        above.children.append(made)
        self.by_account[name] = made
        return made

    def add_user(self, user: str, account: str) -> Association:
        """Add a user to an account; return the association."""
        above = self.by_account[account]
        made = Association(account, user, above, qos=above.qos)
        above.children.append(made)
        self.by_user.setdefault(user, []).append(made)
        return made

    def association(self, user: str, account: str | None) -> Association | None:
        """Return the association of a user with an account, or the user's default one; None if there is none."""
        known = self.by_user.get(user, [])
        return next((one for one in known if account in {None, one.account}), None)

    def users(self) -> list[Association]:
        """Return the associations of all users, in the order of addition."""
        return [one for many in self.by_user.values() for one in many]
