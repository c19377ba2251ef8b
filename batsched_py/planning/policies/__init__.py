"""Policies that users select by name; each table of names also accepts user functions (`named.Named`).

* `ordering`: orders of the waiting jobs (`ORDERS`), and the line of jobs in such an order (`Line`).
* `selection`: selections among the free hosts (`SELECTIONS`), based on the bit arithmetic of `layouts`.
* `packing`: selections of the host for a task among hosts that tasks share (`PACKED_SELECTIONS`), based on `rating` and
  `fragmentation`; no option offers them yet.
* `constraints`: limits on the hosts of a job, free or not (`CONSTRAINTS`).

Each row has its formula or its source. Policies are frozen values; the only state kept between decisions is the one
that `prepare` computes for the machine.
"""
