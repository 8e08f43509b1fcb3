#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""in_terminal.py COLUMNS COMMAND [ARGUMENT]...: runs a command on a terminal of that width and prints what the terminal
got, escape characters as ^[ and carriage returns, but for those at ends of lines, as ^M. Ends with its status."""
import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
        os.execvp(sys.argv[2], sys.argv[2:])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the last one has closed the terminal
            break
        if not piece:
            break
        shown += piece
    _, status = os.waitpid(pid, 0)
    shown = shown.replace(b"\r\n", b"\n").replace(b"\r", b"^M").replace(b"\x1b", b"^[")
    sys.stdout.buffer.write(shown)
    sys.stdout.flush()
    sys.exit(os.waitstatus_to_exitcode(status))


main()
