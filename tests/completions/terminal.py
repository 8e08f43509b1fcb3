# SPDX-License-Identifier: Apache-2.0
"""An interactive program on a terminal of its own."""
import os
import pty
import re
import select
import signal
import time


class Terminal:
    def __init__(self, command, environment, folder):
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.seen = b""

    def type(self, text):
        os.write(self.descriptor, text.encode())

    def read_until(self, pattern, limit=60):
        """What a pattern's first match captures; everything up to its end is consumed."""
        end = time.monotonic() + limit
        while True:
            found = re.search(pattern, self.seen, re.DOTALL)
            if found:
                self.seen = self.seen[found.end():]
                return found
            ready, _, _ = select.select([self.descriptor], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError("no %r in %r" % (pattern, self.seen))
            try:
                self.seen += os.read(self.descriptor, 65536)
            except OSError:
                raise AssertionError("ended, and no %r in %r" % (pattern, self.seen)) from None

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)
