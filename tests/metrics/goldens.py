"""Published and independently computed values; each file names its source."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def golden(name):
    return json.loads((FOLDER / f"{name}.json").read_text())
