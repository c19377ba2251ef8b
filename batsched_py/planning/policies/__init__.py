"""Choices that users make by name, each a table of names that takes functions of the user's, too (`named.Named`).

* `ordering`: orders of the waiting jobs (`ORDERS`), and the line of jobs in such an order (`Line`).
* `selection`: choices among the free hosts (`SELECTIONS`); `layouts` is the arithmetic on bits that they use.
* `constraints`: limits on the hosts of a job, free or not (`CONSTRAINTS`).

Each row has its formula or its source. What is chosen is a frozen value; it keeps nothing from one decision to the next
but what `prepare` made for the machine.
"""
