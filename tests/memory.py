"""How much memory a piece of Python takes, measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).parents[1]
_TAIL = """
import json as _json, resource as _resource
with open("/proc/self/status") as _status:
    _peak = next(int(line.split()[1]) for line in _status if line.startswith("VmHWM"))
_children = _resource.getrusage(_resource.RUSAGE_CHILDREN).ru_maxrss
print("\\n" + _json.dumps([_peak // 1024, _children // 1024]))
"""


class Measured(NamedTuple):
    """What was printed, and the greatest memory of the process and of any that it started, in MiB."""

    said: str
    own: int
    children: int


def measured(code: str, *args: object) -> Measured:
    """Run code in a fresh Python that can import ours; `sys.argv[1:]` are the arguments."""
    ended = subprocess.run(
        [sys.executable, "-c", code + _TAIL, *map(str, args)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    said, _end, peaks = ended.stdout.rstrip().rpartition("\n")
    return Measured(said.strip(), *json.loads(peaks))
