"""The tests of deploy/ that need Prometheus share the black-box tests' server, client and receiver."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "BlackBox")]
