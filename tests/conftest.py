"""What every test shares."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management.color import Style
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from tests.server import drop_template, drop_test_database, make_test_database

# Importing leaves no garbage, and tests leave it more slowly than Python looks for it.
gc.disable()
gc.set_threshold(20_000, 20, 20)

# Drawn examples are the same in every run, and a machine that is busy fails none of them for being slow.
settings.register_profile(
    "steady", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Processes that tests start run with the real settings, in the data folder of the test process.

    And they hear Ctrl-C and SIGHUP, even where the tests run in the background of a script, whose shell has
    the one ignored, or under nohup, which has the other ignored.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    # Threads of PyTorch that wait for each other sleep, and leave the cores to other tests.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ["DJANGO_SETTINGS_MODULE"] = "distillery.settings"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the data folder; the template of databases goes with the last process (`tests/shards.py`)."""
    if folder := os.environ.get("DISTILLERY_TEST_RUN"):
        shutil.rmtree(folder, ignore_errors=True)
        if "TEST_SHARD" not in os.environ:
            drop_template()


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: looking for garbage in them takes a twentieth of the time."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of parts that are not in force in this run: another run of the suite has those."""
    in_force = parts_in_force()
    left_out = [
        item
        for item in items
        if any(marker.args[0] not in in_force for marker in item.iter_markers("only_on"))
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def parts_in_force() -> set[str]:
    """Names that the marker `only_on` takes, as far as they are true here."""
    from django.conf import settings
    from django.db import connection

    parts = {
        connection.vendor: True,
        "file-broker": not settings.REDIS_URL,
        "linux": sys.platform.startswith("linux"),
        "unprivileged": os.geteuid() != 0,
        "java": shutil.which("java") is not None,
        "redis-server": shutil.which("redis-server") is not None,
        "shared": (Path(__file__).resolve().parents[2] / "shared" / "data").is_dir(),
    }
    return {name for name, true in parts.items() if true}


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """The test database is there before Django looks for it; see the next fixture."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """A copy of the migrated template, so that no test process has to migrate: that takes ten seconds."""
    from django.db import connection, connections

    name = str(connection.creation._get_test_db_name())
    make_test_database(name)
    connection.ops.sql_flush = delete_rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.core.management.commands.flush.emit_post_migrate_signal", lambda *_: None)
        yield
    with django_db_blocker.unblock():
        connections.close_all()
    drop_test_database(name)


#: Rows that follow from the models: Django would delete and write them again, with a hundred queries.
OF_THE_MODELS = {"auth_permission", "django_content_type"}


def delete_rows(style: Style, tables: list[str], **_: bool) -> list[str]:
    """What empties the tables after a test whose transactions were real.

    Django's TRUNCATE makes a new file for each table and each index, hundreds of them, each time.
    """
    from django.db import connection

    from core.audit import chain

    deletions = [
        f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables if table not in OF_THE_MODELS
    ]
    # In any order: what rows refer to is looked at when the transaction ends. SQLite takes one at a time.
    statements = chain.emptying_statements(connection.vendor, deletions)
    return ["; ".join(statements)] if connection.vendor == "postgresql" else statements


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_listed_once() -> Iterator[None]:
    """Each client of a test has middleware of its own, and WhiteNoise's would look at every file again."""
    from whitenoise.middleware import WhiteNoiseMiddleware

    listed: dict[str, object] = {}
    look = WhiteNoiseMiddleware.add_files_from_finders

    def look_once(middleware: WhiteNoiseMiddleware) -> None:
        if not listed:
            look(middleware)
            listed.update(middleware.files)
        middleware.files.update(listed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", look_once)
        yield


@pytest.fixture
def data_dir() -> Path:
    """The data folder of this test process."""
    from django.conf import settings

    return Path(settings.DATA_DIR)


@pytest.fixture(autouse=True)
def _figures_are_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that was worked out in another test is kept, and nothing is kept because it took long."""
    from django.core.cache import cache

    from core.rates import limits
    from web import cache as figure_cache

    monkeypatch.setattr(figure_cache, "CHEAP_SECONDS", float("inf"))
    cache.clear()
    limits().forget_all()  # type: ignore[attr-defined]  # those of this process


@pytest.fixture(autouse=True)
def _a_data_folder_that_knows_no_epoch() -> None:
    """Databases go back to what they were after each test, and the file beside them must not notice."""
    from django.conf import settings

    from crowd.outbox.epoch import FILE

    (Path(settings.DATA_DIR) / FILE).unlink(missing_ok=True)
