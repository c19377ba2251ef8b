"""Recordings of conversations: written, read, replayed, compared.

Start with transcript.py (a recording read back, `Exchange` by `Exchange`) and lines.py (the file's format). Then

* recorder.py: writes while the run lasts; proxy.py: records others, between a Batsim and a decision process;
* decisions.py: messages in words, and `ReplyDecision`, the content of a reply without its spelling;
* replay.py: recorded requests fed to a decision process, up to the first reply that is another decision;
* facts.py: a run as facts about jobs and hosts, without the split into messages and without the dialect;
  compare.py: two runs by their facts; report.py: the differences in words.

Two ways to compare: `replay` is exact (each reply is the same decision), `compare_transcripts` goes by what happened
and allows tolerances.

Invariants:

* A recording is whole up to its last line, however the process ended; the bytes of a message are kept as they were.
* Readers keep one exchange at a time; memory grows with what differs, not with the length of the runs.
"""
