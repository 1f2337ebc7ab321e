"""Times in which a server does nothing. Here the passing of real time is the stimulus, not a wait for something, so no
condition could replace it."""

import os
import signal
import time

GAP = 1.3  # seconds; time in which the fire loop stands still counts as missed from 1 s on


def stand_still(server, seconds, meanwhile=lambda: None):
    """Stops the process for `seconds`, after `meanwhile()`, then lets it go on."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        meanwhile()
        time.sleep(seconds)
    finally:
        os.kill(server.pid, signal.SIGCONT)


def stay_down(server, seconds):
    """Leaves an ended server down for `seconds`, then starts it. Returns its client."""
    assert server.process.poll() is not None, "the server runs"
    time.sleep(seconds)
    return server.start().client
