"""Times in which a server does nothing. That real time passes is the stimulus here, not a wait for something: no
condition could take its place."""

import os
import signal
import time

GAP = 1.3  # seconds; what passes while the fire loop stands still counts as missed from 1 s on


def stand_still(server, seconds, meanwhile=lambda: None):
    """Stops the process for `seconds`, after `meanwhile()`, then lets it go on."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        meanwhile()
        time.sleep(seconds)
    finally:
        os.kill(server.pid, signal.SIGCONT)


def stay_down(server, seconds):
    """Leaves a server that has ended so for `seconds`, then starts it. Returns its client."""
    assert server.process.poll() is not None, "the server runs"
    time.sleep(seconds)
    return server.start().client
