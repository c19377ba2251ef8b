"""`batsched-py site users`: the users of a live site, each with a token, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import COMMON, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.terminal import say
from batsched_py.site.users import (
    MOST,
    ROLES,
    Role,
    UserQuotas,
    add_user,
    list_users,
    remove_user,
    set_group_quotas,
    set_user_quotas,
)
from batsched_py.text.display import displayed

_file_option = option("--file", "FILE", "The file of users.", type=PATH, required=True)


@click.group(cls=OnceGroup, no_args_is_help=True)
def users() -> None:
    """Add, list and remove users of a live site, which reads the file anew when it changes."""


users.params += COMMON


@typed_command(limits=False)
@click.argument("name")
@_file_option
@option("--group", "NAME", "Group whose members may read the requests of the user.", default="")
@option("--role", "ROLE", "user, or operator: may do everything.", type=click.Choice(ROLES), default="user")
def add(name: str, file: Path, group: str, role: str) -> None:
    """Add the user NAME, and print the new token. Only its hash is stored: it cannot be shown again."""
    say(add_user(file, name, group, cast(Role, role)))


@typed_command(limits=False)
@_file_option
def listed(file: Path) -> None:
    """List the users with their groups, roles and quotas, and the quotas of groups."""
    content = list_users(file)
    table = Table("User", "Group", "Role", "Quotas", box=box.SIMPLE, pad_edge=False)
    for user in content.users:
        table.add_row(displayed(user.name), displayed(user.group), user.role, _quotas_text(user.quotas))
    for group in content.groups:
        table.add_row("", displayed(group.name), "", _quotas_text(group.quotas))
    show_table(table)


@typed_command(limits=False)
@click.argument("name")
@_file_option
def remove(name: str, file: Path) -> None:
    """Remove the user NAME: the token is refused from now on. Leases and experiments remain."""
    remove_user(file, name)


class _Quota(click.ParamType[int | None]):
    """A number from 0, or none."""

    name = "quota"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; -1 for none."""
        if value == "none":
            return -1
        try:
            int(value)
        except ValueError:
            self.fail(f"must be a number or none, not {value!r}", param, ctx)
        return click.IntRange(0, MOST).convert(value, param, ctx)


@typed_command(limits=False)
@click.argument("name")
@_file_option
@flag("--group", "NAME is a group, whose users have the quotas together.")
@option("--hosts", "N|none", "Machines of leases and jobs that have not ended.", type=_Quota())
@option("--leases", "N|none", "Leases and jobs that have not ended.", type=_Quota())
@option("--experiments", "N|none", "Experiments and reservations that were not deleted.", type=_Quota())
def quota(
    name: str, file: Path, hosts: int | None, leases: int | None, experiments: int | None, *, group: bool
) -> None:
    """Set quotas of the user NAME, or of a group; none ends a quota, and those that are not given stay."""
    given = {"hosts": hosts, "leases": leases, "experiments": experiments}
    changes = {quota: None if value < 0 else value for quota, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Give '--hosts', '--leases' or '--experiments'.")
    (set_group_quotas if group else set_user_quotas)(file, name, changes)


def _quotas_text(quotas: UserQuotas) -> str:
    given = ((name, getattr(quotas, name)) for name in quotas.__struct_fields__)
    return ", ".join(f"{name} {value}" for name, value in given if value is not None)


for _part, _name in ((add, "add"), (listed, "list"), (remove, "remove"), (quota, "quota")):
    users.add_command(_part, _name)
