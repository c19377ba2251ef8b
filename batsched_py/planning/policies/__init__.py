"""Choices that users make by name, each a table of names that takes functions of the user's, too (`named.Named`).

* `ordering`: who is served first (`ORDERS`), and the line of those who wait in such an order (`Line`).
* `selection`: which of the free hosts a job gets (`SELECTIONS`); `layouts` is the arithmetic on bits that they use.
* `constraints`: on which hosts a job may run at all (`CONSTRAINTS`).

Each row has its formula or its source. What is chosen is a frozen value; it keeps nothing from one decision to the next
but what `prepare` made for the machine.
"""
