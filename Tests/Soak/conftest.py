"""The soak shares the crash loop's HTTP and the black-box tests' knowledge of the server."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), *[str(Path(__file__).parents[1] / name) for name in ("Torture", "BlackBox")]]
