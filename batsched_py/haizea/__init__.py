"""Haizea's own files and words: configurations, several of them in one file, samples, data files, the log of a run.

Start with `reader.read_config`, which makes a `config.HaizeaConfig` of a file by the table in `options`; its `told`
names what of the file has no counterpart here. `multi` makes several configurations of one file, `script` the scripts
that run them; `sample` has files to begin with. `log` and `summary` follow a run, `data` keeps what its probes counted,
`description` tells what was run.

Invariants: `options` is the one place where the name, the type and the default of an option stand: reader, samples and
documentation are made of it; a wrong file is one error that names file, `section.option` and rule; nothing is printed.
"""
