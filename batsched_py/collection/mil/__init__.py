"""MIL, Legion's language of queries: `$arch == "x86" and $mem >= 512`.

`parser` reads a query into an `expression`: a tree that computes its value for a record and can be printed. `functions`
implements the operators and named functions; `values` are numbers, texts and truth values; `matching` runs regular
expressions in linear time; `explanation` explains why a query is not true for a record. Queries are untrusted input:
their length and depth are bounded, and nothing in them is executed.
"""
