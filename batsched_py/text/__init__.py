"""Text for people: messages, tables, pictures and notebooks write names, numbers and facts through these modules.

`display` makes text from outside fit to be shown, `wording` writes numbers and counts, `representation` keeps the
`repr` of large facts short. Nothing here knows what is written about.
"""
