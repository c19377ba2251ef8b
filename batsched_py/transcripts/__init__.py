"""Recordings of conversations: written, read, replayed, compared.

Start with transcript.py (a recording read back, `Exchange` by `Exchange`) and lines.py (the file's format). Then

* recorder.py: writes while the run lasts; proxy.py: records others, between a Batsim and a decision process;
* decisions.py: descriptions of messages, and `ReplyDecision`, the content of a reply independent of its encoding;
* replay.py: recorded requests sent to a decision process, up to the first reply with another decision;
* facts.py: a run as facts about jobs and hosts, without the split into messages and without the dialect;
  compare.py: two runs by their facts; report.py: descriptions of the differences.

There are two ways to compare: `replay` is exact (each reply is the same decision), `compare_transcripts` compares
events and allows tolerances.

Invariants:

* A recording is complete up to its last line, however the process ended; the bytes of messages are not changed.
* Readers keep one exchange at a time; memory grows with the differences, not with the length of the runs.
"""
