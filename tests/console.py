"""Management commands on request: a JSON list of arguments per line in, a JSON answer per line out.

Starting Django takes a second; one console serves all the accounts that a test session needs.
"""

import contextlib
import io
import json
import os
import sys

import django
from django.core.management import call_command


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    django.setup()
    for line in sys.stdin:
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output):
                call_command(*json.loads(line), stdout=output)
            answer = {"output": output.getvalue()}
        except (Exception, SystemExit) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # as in tests/inside.py


if __name__ == "__main__":
    main()
