"""psiTurk's `MTurkServices`, as its shell and its dashboard use it: `psiturk_side.py ENDPOINT`.

Its two addresses stand in one method as plain strings. The module is loaded with the one of live mode written
again, which is what `sed` does for a person; nothing else of it is touched.
"""

import datetime
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from calls import answer

LIVE = "https://mturk-requester.us-east-1.amazonaws.com"


def turned(endpoint: str) -> ModuleType:
    """psiturk.amt_services with our address for MTurk's."""
    spec = importlib.util.find_spec("psiturk.amt_services")
    assert spec is not None and spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    assert source.count(LIVE) == 1
    module = importlib.util.module_from_spec(spec)
    exec(compile(source.replace(LIVE, endpoint), spec.origin, "exec"), module.__dict__)
    return module


def main() -> None:
    """Serve the methods of MTurkServices; its answers are objects with success, data and exception."""
    module = turned(sys.argv[1])
    services = module.MTurkServices(mode="live")

    def called(method: str, *arguments: Any, **keywords: Any) -> Any:
        if method == "create_hit":
            (config,) = arguments
            for name in ("lifetime", "duration"):
                config[name] = datetime.timedelta(**config[name])
        response = getattr(services, method)(*arguments, **keywords)
        if not response.success:
            raise response.exception
        return plain(response.data)

    answer(called)


def plain(data: Any) -> Any:
    """Their objects as JSON has them."""
    if isinstance(data, list):
        return [plain(each) for each in data]
    return getattr(data, "options", data)


main()
