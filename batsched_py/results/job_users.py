"""The table of users, of a run whose jobs are in no workload file: `PREFIX_users.csv`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from batsched_py.model.table import Table
from batsched_py.results.records import JobRecord

#: The suffix of the file name, the name of the table, and its columns.
USERS: Final = "_users.csv"
USERS_TABLE: Final = "users"
USERS_COLUMNS: Final = ("job", "user")


def users_table(records: Iterable[JobRecord]) -> Table:
    """Return the id and the user of each job, in the order of the records; jobs without a user are left out.

    A later segment of a lease has the user of its first job, whose id is that before the last "#".
    """
    users = dict[str, str]()
    for record in records:
        user = record.job.user or users.get(record.job.id.rpartition("#")[0])
        if user is not None:
            users[record.job.id] = user
    return Table(USERS_TABLE, USERS_COLUMNS, list(users.items()))
