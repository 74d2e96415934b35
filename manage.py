#!/usr/bin/env python3
"""Command line of a Distillery installation."""

try:
    from distillery.__main__ import main
except ImportError as error:
    raise SystemExit(
        "Django is not installed for this Python. Run `make env`, then use `.venv/bin/python manage.py`."
    ) from error

if __name__ == "__main__":
    main()
