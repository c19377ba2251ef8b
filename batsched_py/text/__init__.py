"""Formatting of text for people: names, numbers and facts in messages, tables, pictures and notebooks.

`display` sanitises text from outside, `wording` formats numbers and counts, `representation` keeps the `repr` of large
facts short, `encoding` detects encodings. These modules are independent of all others.
"""
