"""Readers of objects: the members that they know, and warnings; every member is obeyed, refused or reported.

`members` has tables of known members, `many` checks the members of millions of objects, and `notes` collects the
warnings. `json_document` and `xml_document` parse text and find the place of an error; `values` and
`objects` read what is in it, `faults` collects errors, and `limits` bounds all input.
"""
