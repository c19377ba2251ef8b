"""MIL, Legion's language of queries: `$arch == "x86" and $mem >= 512`.

`parser` reads a query, `expression` is what it has read: a tree that computes its value for a record and prints itself.
`functions` are what its operators and named functions compute; `values` are numbers, texts and truth values;
`matching` runs regular expressions in linear time; `explanation` tells why a query is not true for a record. Queries
come from anybody: their length and depth are bounded, and nothing in them is executed.
"""
