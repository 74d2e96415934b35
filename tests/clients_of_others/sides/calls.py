"""Lines of JSON in, lines of JSON out: the outside's half of `running.Side`, for Python 3.9 or newer."""

import json
import sys
from collections.abc import Callable
from typing import Any


def answer(called: Callable[..., Any]) -> None:
    """Read [function, arguments, keywords] from standard input until it ends; say what `called` gave.

    What the package prints itself goes to standard error.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        function, arguments, keywords = json.loads(line)
        try:
            said = {"gave": called(function, *arguments, **keywords)}
        except Exception as error:
            said = {"raised": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(said, default=str) + "\n")
        out.flush()
