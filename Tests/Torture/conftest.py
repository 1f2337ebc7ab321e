"""The harness shares the black-box tests' knowledge of timers and of the server."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "BlackBox")]
