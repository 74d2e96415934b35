"""What every test shares."""

import os
import shutil
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Processes that tests start run with the real settings, in the data folder of the test process."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        os.environ["DJANGO_SETTINGS_MODULE"] = "distillery.settings"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the data folders of all test processes; the one that started the others does it."""
    folder = os.environ.get("DISTILLERY_TEST_RUN")
    if folder and not hasattr(config, "workerinput"):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def data_dir() -> Path:
    """The data folder of this test process."""
    from django.conf import settings

    return Path(settings.DATA_DIR)
