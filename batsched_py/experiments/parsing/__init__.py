"""Readers of the formats of experiments, all of which produce the same model.

* `descriptor`: bytes of either form to a valid experiment. Start here.
* `json_form`: the JSON format and its schema, with its `resources`.
* `ovf`: the XML format, with its `ovf_parts`.
* `quantities`: values in both formats: texts, numbers, durations, instants, references.
* `testbed_form`: the description of a testbed; `submissions`: files of descriptors with their times.

Readers find all faults of a document at once (`reading.objects`).
"""
