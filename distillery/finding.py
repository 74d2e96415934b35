"""What `manage.py doctor` and `up` say of one thing they looked at."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it is, and what to do if it is not well."""

    level: Level
    topic: str
    sentence: str
    remedy: str = ""
