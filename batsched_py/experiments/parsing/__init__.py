"""Readers of the forms in which experiments are described: each fills the one model.

* `descriptor`: bytes of either form to a valid experiment. Start here.
* `json_form`: the JSON form; `resources` of it; `members` of any object.
* `ovf`: the form in XML, from the elements of an `xml_tree`.
* `quantities`: values that both forms have: texts, numbers, durations, instants, references.
* `testbed_form`: the description of a testbed; `submissions`: files of descriptors with their times.
* `schema`: the JSON schema of descriptors.

Readers refuse a value that breaks its rule (`faults.Place.refuse`); what surrounds it is read on, so that all faults of
a document are found at once.
"""
