"""How many cases a test draws: a tenth in each build, all of them where `make test-all` sets TEST_ALL=1."""

import os

TEST_ALL = os.environ.get("TEST_ALL") == "1"


def limit_cases(number: int, least: int = 10) -> int:
    """This number where everything is run; else a tenth of it, but no fewer than `least`."""
    return number if TEST_ALL else min(number, max(number // 10, least))
