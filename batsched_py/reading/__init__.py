"""The kit of all readers of documents: text to parsed values, parsed values to typed ones, and all that is wrong.

* `json_document` and `xml_document` parse text, and find the place of an error; `limits` bounds all input.
* `values` has readers of single values, `objects` of objects and lists, `structs` of structs by their fields' types.
* `faults` collects places and rules of all that is refused.
* `members` has tables of known members, `many` checks the members of millions of objects, and `notes` collects lines
  about what has no effect: every member is obeyed, refused or reported.
"""
