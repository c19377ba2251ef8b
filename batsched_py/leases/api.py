"""Names for a user's own classes, such as probes, and for algorithms that read the terms of leases."""

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.probe import AccountingProbe
from batsched_py.leases.lease import Lease
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import ALL_TERMS, MEMBER, START_TERMS, UNLIMITED, read_terms
from batsched_py.model.resources import Quantity
from batsched_py.reading.faults import FieldError
from batsched_py.results.lease_rows import LeaseState

__all__ = [
    "ALL_TERMS",
    "MEMBER",
    "START_TERMS",
    "UNLIMITED",
    "Accounting",
    "AccountingProbe",
    "FieldError",
    "Lease",
    "LeaseKind",
    "LeaseState",
    "Quantity",
    "read_terms",
]
