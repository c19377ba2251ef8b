"""The methods of a study in words: algorithms, workloads, metrics and statistics with their sources, for a paper.

`references` finds the sources in references.bib, `definitions` has the metrics, and `description` writes the paragraphs
in one of the forms of `forms`.
"""
