#!/usr/bin/env python3
"""Command line of a Distillery installation."""

import os
import sys


def main() -> None:
    """Run one management command with the project's settings."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415  # may be missing
        from django.core.management import execute_from_command_line  # noqa: PLC0415
    except ImportError as error:
        raise SystemExit(
            "Django is not installed for this Python. Run `make env`, then use `.venv/bin/python manage.py`."
        ) from error
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
