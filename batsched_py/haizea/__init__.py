"""Haizea's own files and words: configurations, several of them in one file, samples, and the log of a run.

Start with `reader.read_config`, which makes a `config.HaizeaConfig` of a file by the table in `options`; its `told`
names what of the file has no counterpart here.

Invariants: `options` is the one place where the name, the type and the default of an option stand: reader, samples and
documentation are made of it; a wrong file is one error that names file, `section.option` and rule; nothing is printed.
"""
