"""Python inside a running server's installation: commands as JSON per line in, answers as JSON per line out.

Starting Django takes seconds of a processor; one process serves all that a test session asks of it. The
module that runs inside ends with `serve({"name": function, …})`, and `Inside` asks from outside.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, Self

from tests.server import ROOT, RunningServer


class Inside:
    """A module as a process with a server's settings; a context manager."""

    def __init__(self, module: str, server: RunningServer) -> None:
        self._module, self._server = module, server

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            cwd=ROOT,
            env={**self._server.environment, "TASK_URL": self._server.url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def ask(self, what: str, /, **named: Any) -> Any:
        """Call a function inside; RuntimeError with its words where it raises."""
        into, out = self._process.stdin, self._process.stdout
        assert into is not None and out is not None
        print(json.dumps([what, named]), file=into, flush=True)
        said = json.loads(out.readline() or '{"error": "the process inside ended"}')
        if "error" in said:
            raise RuntimeError(said["error"])
        return said["value"]


def serve(commands: Mapping[str, Callable[..., Any]]) -> None:
    """Answer until the input ends; what is printed meanwhile goes to the standard error."""
    import django

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    django.setup()
    for line in sys.stdin:
        what, named = json.loads(line)
        try:
            answer = {"value": commands[what](**named)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # taking all of Django apart takes a quarter of the time that starting it took
