"""Writes `docs/openapi.json`: `python -m tests.api.write`."""

import os
from pathlib import Path

import django

from tests.repository import ROOT

FILE: Path = ROOT / "docs" / "openapi.json"


def main() -> None:
    """Write the schema as this checkout has it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings_test")
    django.setup()
    from web.api.operations import schema_text

    FILE.write_text(schema_text())


if __name__ == "__main__":
    main()
