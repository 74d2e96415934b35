"""Settings of a test run: the real ones, in a data folder of its own for every test process."""

import os
import tempfile
from pathlib import Path

#: The number of this process among those of `tests/shards.py`.
SHARD = os.environ.get("TEST_SHARD", "0")
RUN_DIR = Path(os.environ.get("DISTILLERY_TEST_RUN") or tempfile.mkdtemp(prefix="distillery-tests-"))


# Whatever the shell has set for a real installation stays out of the tests; the services under test come in.
for name in (
    "ALLOWED_HOSTS",
    "PUBLIC_URL",
    "DEBUG",
    "SECRET_KEY",
    "SECRET_KEY_FILE",
    "MARKETPLACE_TEST_TOKEN",
    "METRICS_TOKEN",
    "LOG_FORMAT",
    "DATABASE_DIRECT_URL",
    "DATA_STORAGE",
    "RELEASES_STORAGE",
    "CROSS_ENCODER",
    "METRIC_MODELS",
    "BERTSCORE_ENCODER",
    "EMAIL_URL",
    "EMAIL_HOST",
    "RETRIEVAL_ENGINE",
):
    os.environ.pop(name, None)
os.environ["DISTILLERY_TEST_RUN"] = str(RUN_DIR)
os.environ["DATA_DIR"] = str(RUN_DIR / SHARD)
if os.environ.get("REDIS_URL"):
    # Each process has a Redis database of its own.
    os.environ["REDIS_URL"] = f"{os.environ['REDIS_URL'].rstrip('/').removesuffix('/0')}/{SHARD}"

from distillery.settings import *  # noqa: E402, F403  # the environment has to be ready first
from distillery.settings import DATA_DIR, DATABASES  # noqa: E402

if DATABASES["default"]["ENGINE"] == "distillery.sqlite3":
    # A file, not memory: threads and processes share it as they do in an installation.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
    # Rows of an unordered query come in reverse: what relies on their order fails here, and not only on
    # PostgreSQL on the day its planner takes another index.
    DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA reverse_unordered_selects=ON;"
else:
    DATABASES["default"]["TEST"] = {"NAME": f"test_distillery_{SHARD}"}
# Tests that count rates over processes name a Redis themselves.
RATES_URL = ""
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
