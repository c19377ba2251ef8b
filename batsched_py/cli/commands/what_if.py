"""`batsched-py what-if`: a live site, played ahead as it is and under a change that is not made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.lease_terms import LeaseTerms, lease_term_options
from batsched_py.cli.shared.parameters import Seconds, option, read_assignments
from batsched_py.cli.shared.site_options import SitePlace, site_options
from batsched_py.cli.shared.terminal import say
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, seconds

#: Seconds to wait for the answer: a play takes a minute at most.
_PATIENCE: Final = 90.0


class ChangeOptions(Struct, frozen=True):
    """The change, apart from a lease."""

    horizon: float
    algorithm: str | None
    options: Mapping[str, str]
    drain_hosts: str | None
    fail_hosts: str | None
    return_hosts: str | None

    def body(self) -> dict[str, Any]:
        """Return the request for the site."""
        given = {name: getattr(self, name) for name in ("algorithm", "drain_hosts", "fail_hosts", "return_hosts")}
        body = {name: value for name, value in given.items() if value is not None}
        return {"horizon": self.horizon, **body, **({"options": dict(self.options)} if self.options else {})}


@typed_command(limits=False)
@option("--horizon", "S", "How far the site is played ahead.", type=Seconds(min=0, min_open=True), default=86400.0)
@option("-s --scheduler algorithm", "ALGORITHM", "Another built-in algorithm from now on.")
@option(
    "-o --option options",
    "KEY=VALUE",
    "An option of the algorithm; may be given several times.",
    multiple=True,
    callback=read_assignments,
)
@option("--drain drain_hosts", "HOSTS", "Drain hosts, such as 0-3,7.")
@option("--fail fail_hosts", "HOSTS", "Let hosts fail.")
@option("--return return_hosts", "HOSTS", "Return hosts to service.")
@lease_term_options
@site_options
def command(place: SitePlace, change: ChangeOptions, terms: LeaseTerms) -> None:
    """Play a live site ahead, as it is and under a change, and compare; the site itself goes on as it is.

    The change is another algorithm (-s) or other options of it (-o), hosts out of service or back, or one more lease:
    the options from -n on are its terms, as of 'lease request'.
    """
    body = change.body()
    if terms.supplied():
        body["lease"] = terms.body()
    answer = place.client().post("api", "what-if", body=body, silence=_PATIENCE)
    say(f"Played from {seconds(answer['now'])} to {seconds(answer['until'])}.")
    if answer["leases"]:
        _show(answer["leases"])
    if answer["left_off"]:
        say(f"{counted(answer['left_off'], 'more lease')}, not listed.")
    mean = answer["mean_difference"]
    say(f"{_counts(answer['own'])}{'' if mean is None else f'; mean difference {_signed(mean)} s'}.")
    if answer["others"]["leases"]:
        say(f"Of others: {_counts(answer['others'])}.")
    if (added := answer["added"]) is not None:
        why = f": {displayed(str(added['why']))}" if added["why"] else ""
        times = f"{_time(added['start'])} to {_time(added['end'])}"
        say(f"The lease more: {displayed(str(added['outcome']))}, {times}{why}.")


def _show(leases: Sequence[Mapping[str, Any]]) -> None:
    names = ("ID", "User", "State", "Start", "End", "Changed start", "Changed end", "Difference")
    table = Table(*names, box=box.SIMPLE, pad_edge=False)
    for one in leases:
        changed = _time(one["changed_end"])
        if one["difference"] is None and one["outcome"] != one["changed_outcome"]:
            changed = f"{changed} {one['changed_outcome']}"
        cells: Iterable[object] = (
            one["number"],
            one["user"],
            one["state"],
            _time(one["start"]),
            _time(one["end"]),
            _time(one["changed_start"]),
            changed,
            "" if one["difference"] is None else _signed(one["difference"]),
        )
        table.add_row(*(displayed(str(cell)) for cell in cells))
    show_table(table)


def _counts(counts: Mapping[str, Any]) -> str:
    """Return numbers of leases in words, without those that are 0 in both plays."""
    text = f"{counted(counts['leases'], 'lease')}: {counts['earlier']} earlier, {counts['later']} later"
    for name, words in (("waiting", "not started"), ("failed", "failed")):
        before, after = counts[name], counts[f"changed_{name}"]
        if before or after:
            text += f"; {words}: {before}, under the change {after}"
    return text


def _time(value: float | None) -> str:
    return "-" if value is None else seconds(value)


def _signed(value: float) -> str:
    return f"+{seconds(value)}" if value > 0 else seconds(value)
