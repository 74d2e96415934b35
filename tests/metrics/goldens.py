"""Published and independently computed values; each file names its source."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"


@cache
def golden(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())
