"""`python -m tests.contracts.write [pytest arguments]`: write the snapshots as the code has them now."""

import os
import shutil
import sys

import pytest

from tests.contracts.snapshots import FOLDER, WRITE


def main(arguments: list[str]) -> int:
    """Write all, after removing what is there; or those that the arguments select."""
    if not arguments:
        shutil.rmtree(FOLDER, ignore_errors=True)
    os.environ[WRITE] = "1"
    return int(pytest.main(arguments or [str(FOLDER.parent)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
