"""A program that does not outlive whoever asked for it: run as a script, never imported.

    python guard.py PROGRAM ARGUMENT...

Its standard input is a pipe that nobody writes to. When the other end is closed, because the process that holds it was
killed, say, the program and all that it has started are killed, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

CANNOT_START = 127  # as shells have it
SIGNALLED = 128  # and the number of the signal


def main() -> None:
    """Run the program, and end as it ends."""
    try:
        program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    except (OSError, ValueError) as error:
        print(f"cannot start {sys.argv[1]!r}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        sys.exit(CANNOT_START)
    threading.Thread(target=end_with_parent, args=(program,), daemon=True).start()
    code = program.wait()
    if hasattr(os, "killpg"):  # what it has left behind leaves with it
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
    os._exit(code if code >= 0 else SIGNALLED - code)  # not sys.exit: the thread holds standard input


def end_with_parent(program: subprocess.Popen[bytes]) -> None:
    """Wait until nobody holds the other end of the pipe."""
    os.read(0, 1)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    program.kill()


if __name__ == "__main__":
    main()
