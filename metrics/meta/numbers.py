"""The last step before a file: only numbers that JSON knows."""

import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """The same without numpy's types; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
