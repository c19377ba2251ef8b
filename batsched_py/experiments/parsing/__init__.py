"""Readers of the formats of experiments, all of which produce the same model.

* `descriptor`: bytes of either form to a valid experiment. Start here.
* `json_form`: the JSON format, with its `resources`, and `members` of any object.
* `ovf`: the XML format, from the elements of an `xml_tree`.
* `quantities`: values in both formats: texts, numbers, durations, instants, references.
* `testbed_form`: the description of a testbed; `submissions`: files of descriptors with their times.
* `schema`: the JSON schema of descriptors.

Readers refuse invalid values (`faults.Place.refuse`) and continue with the surrounding object, so that all faults of a
document are found at once.
"""
