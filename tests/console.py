"""Work inside an installation on request: a request as JSON per line in, an answer as JSON per line out.

A list is a management command with its arguments. An object names a module, one of its `COMMANDS`, and what
that function takes. Starting Django takes seconds of a processor; one console serves all that a test session
asks for.
"""

import contextlib
import importlib
import io
import json
import os
import sys
from typing import Any

import django
from django.core.management import call_command


def run_command(arguments: list[str]) -> dict[str, Any]:
    """Run a management command; its output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        call_command(*arguments, stdout=output)
    return {"output": output.getvalue()}


def call_function(module: str, function: str, named: dict[str, Any]) -> dict[str, Any]:
    """Call a function of a module; what it returns."""
    return {"value": importlib.import_module(module).COMMANDS[function](**named)}


def main() -> None:
    """Answer until the input ends; what functions print goes to the standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    django.setup()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = run_command(request) if isinstance(request, list) else call_function(**request)
        except (Exception, SystemExit) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # taking all of Django apart takes a quarter of the time that starting it took


if __name__ == "__main__":
    main()
