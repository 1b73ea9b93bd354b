"""Lets tests import the source, the SDK, and what the WIT is in Python."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

if not (ROOT / "bindings").is_dir():
    sys.exit("run `openprogram build` first: it writes `bindings`, which the tests import")

for folder in ("bindings", "sdk", "src"):
    sys.path.insert(0, str(ROOT / folder))
