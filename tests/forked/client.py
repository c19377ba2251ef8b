"""Stands for batsched-py: has a command run by the process that listens at an address, and ends as the command did.

It is run as `python -IS client.py ADDRESS ARGUMENT...`. `socket` and `signal` would take longer to load than Python
itself; what they are made of is enough here.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # not among the stubs
import _socket
import os
import sys

#: Those that end a program, unless it says otherwise: SIGHUP, SIGINT and SIGTERM.
PASSED_ON = (1, 2, 15)


def main() -> None:
    """The command has the streams, the folder and the environment of this process, and gets the signals that come."""
    address, *arguments = sys.argv[1:]
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    server.connect(address)
    for number in PASSED_ON:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, lambda number, _: server.send(bytes([number])))
    environment = [b"%b=%b" % item for item in os.environb.items()]
    request = b"\0".join([os.getcwdb(), b"%d" % len(arguments), *map(os.fsencode, arguments), *environment])
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    server.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    code = int(server.recv(16))
    if code < 0:
        if -code in PASSED_ON:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
