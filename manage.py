#!/usr/bin/env python3
"""Command line of a Distillery installation."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  # a checkout is started by any Python
    raise SystemExit(
        "Distillery needs Python 3.11 or newer, and this is {}.{}. Name a newer one: "
        "python3.11 manage.py …".format(*sys.version_info)
    )

try:
    from distillery.__main__ import main
except ImportError as error:
    raise SystemExit(
        "Django is not installed for this Python. Run `make env`, then use `.venv/bin/python manage.py`."
    ) from error

if __name__ == "__main__":
    main()
