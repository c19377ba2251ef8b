"""A stand-in for Batsim: its command line, around the embedded simulator.

Like Batsim it aborts when it is told something that it must refuse, and it says little on stdout. Options that Batsim
has not: --say-nothing, --die-before-connecting CODE, --die-with-the-files.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

from batsched_py.cli.main import run

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("-s", "--socket-endpoint", default="tcp://localhost:28000")
parser.add_argument("-p", "--platform", required=True)
parser.add_argument("-w", "--workload", action="append", required=True)
parser.add_argument("-e", "--export", default="out")
parser.add_argument("--mmax", "--max-machines")
parser.add_argument("--events")
parser.add_argument("-E", "--energy", action="store_true")
parser.add_argument("-q", "--quiet", action="store_true")
parser.add_argument("--say-nothing", action="store_true")
parser.add_argument("--die-before-connecting", type=int)
parser.add_argument("--die-with-the-files", action="store_true")
told = parser.parse_args()

if not told.quiet:
    sys.stderr.write(f"[server/INFO] I am {os.getuid()}:{os.getgid()}\n")
while told.say_nothing:
    signal.pause()
if told.die_before_connecting is not None:
    sys.stderr.write("terminate called after throwing an instance of 'std::runtime_error'\n  what():  No such thing\n")
    sys.stderr.flush()
    os._exit(told.die_before_connecting)
arguments = [
    "simulate",
    "--quiet",
    "--connect-timeout=3",
    "--socket",
    told.socket_endpoint,
    "--platform",
    told.platform,
]
arguments += [f"--workload={workload}" for workload in told.workload]
arguments += ["--export", told.export]
for option, value in (("--mmax", told.mmax), ("--events", told.events)):
    if value is not None:
        arguments += [option, value]
if told.energy:
    arguments.append("-E")
code = run(arguments)
if code in (3, 4):
    sys.stderr.flush()
    os.abort()
if told.die_with_the_files:
    sys.exit(9)
sys.exit(code)
