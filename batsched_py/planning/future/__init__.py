"""The future of the hosts, the kernel of all planning algorithms. It has four parts.

* The *calendar* has all known future changes: ends of work, returns of failed hosts, bookings of hosts, claims.
* The *slot table* is a cache: the future divided into time slots, by hosts and by counts. It is built by the first
  query that needs it, updated by reservations and plain work, and dropped by all other changes.
* The *rooms* (`room_future`) are the free resources of hosts that tasks share, over time; None without such tasks.
  `room_search` finds the first start of a job's tasks.
* A *promise book* has the promises of waiting jobs, compresses them, and knows the gaps between them.

Start with `promises` (the kinds of promises), then `availability` (queries of algorithms, updates by the state),
`calendar` below it, `promise_book` above it; `slot_table` last. `reservations` is a different book: hosts booked for an
interval, each booking under an id.

Invariants: a promise is in one book, and in the availability while it is reserved there. Queries have no visible side
effects. Dropping the slot table changes no result. Intervals are half-open, sets of hosts are internally bits, and
overdue ends are expected the instant after now.
"""
