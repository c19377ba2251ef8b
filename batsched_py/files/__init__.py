"""Files: reading within limits of size, whatever their compression and encoding; writing whole or not at all.

* `bounded_file` reads texts and bytes, `compression` unpacks what their content says they are.
* `document_file` reads JSON and YAML.
* `atomic_file` replaces a file as a whole; `text_spool` keeps rows until that happens; `table_file` writes CSV and
  Parquet.

Invariants: no input costs memory out of proportion to its limit; an error is one line that names the file; a file is
there whole, or as it was before.
"""
