"""Files, people, and the keys of a marketplace that is not called."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from crowd.services.endpoints import create_endpoint
from crowd.study.planning import plan
from crowd.study.reader import read

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples/poll.toml"
KEYS = {"LOCAL_ACCESS_KEY": "DSTLAAAA", "LOCAL_SECRET": "a secret"}


@pytest.fixture
def write(tmp_path):
    """Writes a file; gives its path."""

    def write(text, name="study.toml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def example():
    return EXAMPLE.read_text(encoding="utf-8")


@pytest.fixture
def owner(db):
    return User.objects.create_user("ada")


@pytest.fixture
def local(db):
    return create_endpoint(name="local", preset="local", access_key="DSTLAAAA", secret="a secret")


@pytest.fixture
def applied(db, write):
    """Applies a text; gives the study."""
    from crowd.study.planning import apply

    def applied(text, environment=KEYS):
        study = read(write(text))
        apply(study, plan(study, environment, to_apply=True), environment)
        return study

    return applied
