"""Haizea's files: configurations for one run and for several, samples, data files, and the log of a run.

Start with `reader.read_config`, which reads a file into a `config.HaizeaConfig` by the table in `options`; its `notes`
lists the options without a counterpart. `multi` reads several configurations from one file, `script` renders the
scripts that run them; `sample` has files to begin with. `log` and `summary` follow a run, `data` stores the figures of
its probes, `description` describes its configuration.

Invariants: `options` is the only place with the name, the type and the default of an option: reader, samples and
documentation are generated from it; an invalid file is one error that names file, `section.option` and rule; nothing is
printed.
"""
