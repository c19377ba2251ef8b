"""`batsched-py site users`: the users of a live site, each with a token, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import DEBUG, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.terminal import say
from batsched_py.site.users import ROLES, Role, add_user, list_users, remove_user
from batsched_py.text.display import displayed

_file_option = option("--file", "FILE", "The file of users.", type=PATH, required=True)


@click.group(cls=OnceGroup, no_args_is_help=True)
def users() -> None:
    """Add, list and remove users of a live site, which reads the file anew when it changes."""


users.params.append(DEBUG)


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
    """List the users with their groups and roles."""
    table = Table("User", "Group", "Role", box=box.SIMPLE, pad_edge=False)
    for user in list_users(file):
        table.add_row(displayed(user.name), displayed(user.group), user.role)
    show_table(table)


@typed_command(limits=False)
@click.argument("name")
@_file_option
def remove(name: str, file: Path) -> None:
    """Remove the user NAME: the token is refused from now on. Leases and experiments remain."""
    remove_user(file, name)


for _part, _name in ((add, "add"), (listed, "list"), (remove, "remove")):
    users.add_command(_part, _name)
