"""Builders of lease workloads, as text and as requests, for tests."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from batsched_py.model.lease_terms import DiskImage, NodeSet
from batsched_py.traces.lease_request import WHOLE_HOST, LeaseRequest, LeaseSite, LeaseTrace
from batsched_py.traces.lwf import read_lwf

SITE = (
    '<site><resource-types names="CPU Memory"/><nodes><node-set numnodes="4"><res type="CPU" amount="100"/>'
    '<res type="Memory" amount="1024"/></node-set></nodes></site>'
)
NODES = (
    '<nodes><node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>'
)
REQUEST = (
    '<lease-request arrival="00:01:00"><realduration time="00:10:00"/><lease id="7" preemptible="true">'
    f'{NODES}<start/><duration time="01:00:00"/><software><disk-image id="a.img" size="640"/></software>'
    "</lease></lease-request>"
)


def document(*requests: str, site: str = SITE) -> str:
    """The text of a lease workload, each request on a line of its own, the first on the third."""
    inside = "\n".join(requests)
    return f'<lease-workload name="test">{site}\n<lease-requests>\n{inside}\n</lease-requests>\n</lease-workload>\n'


def written(tmp_path: Path, text: str | bytes) -> Path:
    """A file of this text."""
    path = tmp_path / "trace.lwf"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(tmp_path: Path, text: str | bytes) -> LeaseTrace:
    """The trace of this text."""
    return read_lwf(written(tmp_path, text))


def request(arrival: float = 0, duration: float = 3600, nodes: int = 1, **terms: object) -> LeaseRequest:
    """A request for nodes of one CPU and 1 GB."""
    return LeaseRequest(arrival, duration, (NodeSet(nodes, WHOLE_HOST),), **terms)  # type: ignore[arg-type]


TIMES = st.one_of(st.integers(0, 10**9), st.floats(0, 1e9))
DURATIONS = st.one_of(st.integers(1, 10**9), st.floats(1e-6, 1e9))
AMOUNTS = st.integers(1, 10**9)
QUANTITIES = st.one_of(AMOUNTS, st.lists(AMOUNTS, min_size=2, max_size=3).map(tuple))
NAMES = st.text("abc.-_<>&'é 漢", min_size=1, max_size=9)
OTHERS = st.dictionaries(st.sampled_from(["Disk", "Net-in", "Ponies"]), QUANTITIES, max_size=2)
RESOURCES = st.builds(lambda cpu, memory, rest: {"CPU": cpu, "Memory": memory, **rest}, QUANTITIES, QUANTITIES, OTHERS)
NODE_SETS = st.lists(st.builds(NodeSet, st.integers(1, 99), RESOURCES), min_size=1, max_size=3).map(tuple)
IMAGES = st.none() | st.builds(DiskImage, NAMES, AMOUNTS)
REQUESTS = st.builds(
    LeaseRequest,
    arrival=TIMES,
    duration=DURATIONS,
    nodes=NODE_SETS,
    start=st.none() | TIMES | st.just("now"),
    preemptible=st.booleans(),
    real=st.none() | DURATIONS,
    deadline=st.none() | TIMES,
    image=IMAGES,
).map(lambda one: one._replace(deadline=None) if one.start == "now" else one)
SITES = st.builds(LeaseSite, st.just(("CPU", "Memory", "Ponies", "Disk", "Net-in")), NODE_SETS)
TRACES = st.builds(
    LeaseTrace,
    st.just("trace.lwf"),
    st.lists(REQUESTS, max_size=4).map(tuple),
    st.none() | SITES,
    NAMES,
    st.text("abc.<>&'é 漢").map(str.strip),
    notes=st.just(()),
)
