"""Random workloads of leases with random rules: small sites on which much collides."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from batsched_py.leases.policies.catalogue import HOSTS
from tests.ha_cases import HaCase

IMAGES: Final = (("a.img", 640), ("b.img", 1024), ("c.img", 300))
#: What nodes take of their hosts.
PARTS: Final = st.sampled_from(["", "", "cpu 50 mem 512", "cpu 100 mem 512", "cpu 50 mem 300"])
#: Options that change what suspensions, resumptions and migrations take, and who gives way.
RULES: Final[dict[str, st.SearchStrategy[Any]]] = {
    "suspension": st.sampled_from(["all", "all", "none", "serial-only"]),
    "suspendresume_exclusion": st.sampled_from(["local", "global"]),
    "resume_rate": st.sampled_from([32, 50]),
    "override_suspend_time": st.sampled_from([None, None, 0, 45]),
    "scheduling_threshold_factor": st.sampled_from([1, 0, 3]),
    "migration": st.sampled_from(["no", "yes", "yes-notransfer"]),
    "shutdown_time": st.sampled_from([0, 0, 10]),
    "enactment_overhead": st.sampled_from([0, 0, 1]),
    "victim_order": st.sampled_from(["youngest", "oldest"]),
    "unneeded_victims": st.sampled_from(["spare", "stop"]),
    "estimates": st.sampled_from(["exact", "original"]),
    "policy_host_selection": st.sampled_from(list(HOSTS)),
}
BACKFILLING: Final[st.SearchStrategy[dict[str, Any]]] = st.sampled_from(
    [
        {"backfilling": "off"},
        {"backfilling": "aggressive"},
        {"backfilling": "conservative"},
        {"backfilling": "intermediate", "backfilling_reservations": 2},
    ]
)
TRANSFERS: Final = st.fixed_dictionaries(
    {
        "lease_preparation": st.just("imagetransfer"),
        "transfer_mechanism": st.sampled_from(["unicast", "multicast"]),
        "avoid_redundant_transfers": st.booleans(),
        "diskimage_reuse": st.sampled_from(["none", "image-caches"]),
        "diskimage_cache_size": st.sampled_from([-1, 1000, 1700]),
    }
)


@st.composite
def lines(draw: st.DrawFn, /, hosts: int, kinds: str, *, images: bool) -> str:
    """A lease; nodes may take half a host, and now and then they are too many."""
    kind, submit = draw(st.sampled_from(kinds.split())), draw(st.integers(0, 40)) * 30
    nodes = draw(st.integers(1, hosts + 1)) if draw(st.integers(0, 9)) == 0 else draw(st.integers(1, hosts))
    duration = draw(st.integers(2, 40)) * 30
    words = [kind, str(nodes), str(duration), f"@{submit}"]
    real = draw(st.sampled_from([1.0, 1.0, 0.5, 0.9]))
    words += [f"real {duration * real:g}"] if real < 1 else []
    ahead = draw(st.integers(0, 40)) * 30
    words += [f"start {submit + ahead}"] if kind in ("AR", "DL") else []
    words += [f"deadline {submit + ahead + duration + draw(st.integers(1, 60)) * 30}"] if kind == "DL" else []
    words.append(draw(PARTS))
    if images and draw(st.booleans()):
        words.append("image {} {}".format(*draw(st.sampled_from(IMAGES))))
    words += ["kept"] if kind == "BE" and draw(st.integers(0, 3)) == 0 else []
    return " ".join(word for word in words if word)


@st.composite
def lease_cases(draw: st.DrawFn, /, kinds: str = "BE BE BE AR AR IM", *, images: bool = False, **fixed: Any) -> HaCase:
    """A workload with rules; `fixed` options are not drawn."""
    hosts = draw(st.integers(1, 4))
    options: dict[str, Any] = draw(st.fixed_dictionaries({}, optional=RULES))
    if "backfilling" not in fixed:
        options |= draw(BACKFILLING)
    if images:
        options |= draw(TRANSFERS)
    one = lines(hosts, kinds, images=images)
    asked = draw(st.lists(one, min_size=1, max_size=4) | st.lists(one, min_size=8, max_size=14))
    return HaCase(tuple(asked), options={**options, **fixed}, hosts=hosts)


WITHOUT_IMAGES: Final = lease_cases()
WITH_IMAGES: Final = lease_cases(images=True)
WITH_DEADLINES: Final = lease_cases("BE BE AR DL DL DL", policy_preemption="deadline")
#: Best-effort leases all have a start, and nobody gives way.
UNDISTURBED: Final = lease_cases("BE BE BE BE AR IM", policy_preemption="no-preemption", backfilling="conservative")
#: Best-effort leases alone.
IN_TURN: Final = lease_cases("BE", suspension="none", backfilling="off")
