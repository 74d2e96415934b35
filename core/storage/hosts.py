"""Which host this is: a token in its data folder, made once."""

import os
import secrets
from functools import cache
from pathlib import Path

from django.conf import settings

FILE = "host-id"


def host_id() -> str:
    """Token of this host's data folder. Processes that share the folder are one host."""
    return _host_id(Path(settings.DATA_DIR))


@cache
def _host_id(folder: Path) -> str:
    place = folder / FILE
    if not place.exists():
        half = place.with_name(f".{FILE}.{secrets.token_hex(4)}")
        half.write_text(secrets.token_hex(8), encoding="utf-8")
        try:
            os.link(half, place)  # the first one wins
        except FileExistsError:
            pass
        finally:
            half.unlink()
    return place.read_text(encoding="utf-8").strip()
