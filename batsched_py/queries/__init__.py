"""MIL, Legion's language of queries, `$arch == "x86" and $mem >= 512`, and the records that are queried.

* `parser` reads a query, `expression` is what it has read: a tree that computes its value for a record.
* `functions` are what operators and named functions compute; `values` are numbers, texts and truth values; `matching`
  runs regular expressions in linear time; `explanation` says why a query is not true for a record.
* `columns` has the values of all records, by attributes; `records` is the result of a query; `host_attributes` makes
  records of hosts.

Queries are not trusted: their length and depth are bounded, and nothing in them is executed.
"""
