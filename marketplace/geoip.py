"""The country of a network address, by a file of the operator's (MaxMind's format, .mmdb).

Both are optional: without `GEOIP_DATABASE`, or without the library, no country is known. `fault` says which.
"""

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

logger = logging.getLogger(__name__)


@lru_cache(maxsize=4)
def _opened(path: str) -> tuple[Any, str]:
    """The reader of a file, or what is wrong with it; opened once in each process."""
    try:
        import maxminddb  # there only with the extra
    except ImportError:
        return None, "The library maxminddb is not installed: pip install 'distillery[geoip]'."
    if not Path(path).is_file():
        return None, f"There is no file {path}."
    try:
        return maxminddb.open_database(path), ""
    except (OSError, ValueError, RuntimeError, maxminddb.InvalidDatabaseError) as error:
        return None, f"{path} cannot be read: {error}"


def fault() -> str:
    """Why no country is known though a file is named; empty where all is well or none is named."""
    return _opened(settings.GEOIP_DATABASE)[1] if settings.GEOIP_DATABASE else ""


def country_of(address: str) -> str:
    """ISO 3166 code of the country that the file has for an address; empty where it says nothing."""
    if not settings.GEOIP_DATABASE:
        return ""
    reader, _ = _opened(settings.GEOIP_DATABASE)
    if reader is None:
        return ""
    try:
        found = reader.get(address)
    except (ValueError, OSError, RuntimeError):
        logger.warning("The GeoIP file does not answer.", exc_info=True)
        return ""
    code = ((found or {}).get("country") or {}).get("iso_code", "") if isinstance(found, dict) else ""
    return code if isinstance(code, str) and len(code) == 2 else ""
