"""The future of the hosts, the kernel of everything that plans. It has three parts.

* The *calendar* is the truth about the future: ends of work, returns of failed hosts, bookings of hosts, claims.
* The *slot table* is scratch: the future cut into slots of time, by hosts and by counts. It is made at the first
  question that needs it, written through by what is reserved in it and by plain work, and dropped by everything else.
* A *promise book* has the promises of waiting jobs, compresses them, and knows the gaps that they leave.

Start with `promises` (what may be promised), then `availability` (what algorithms ask, and the state tells), `calendar`
below it, `promise_book` above it; `slot_table` last. `reservations` is a book of another kind: of hosts that somebody
has booked for a time, each under an id.

Invariants: a promise is in one book, and nowhere else but in the availability, as long as it is reserved there.
Questions change nothing that can be seen. Dropping the slot table changes no answer. Intervals are half-open, hosts
inside are bits, and what is overdue is expected the instant after now.
"""
