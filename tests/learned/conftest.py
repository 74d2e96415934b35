"""What tests of learned metrics share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluations.desk import new
from metrics import learned_metrics
from metrics.model_folders import ModelFolder
from tests.learned import tiny


@pytest.fixture(scope="session")
def trained_predictor(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    """A keyphrase predictor that found out what a price is; it takes a second, so tests copy its folder."""
    return tiny.kpqa_trained(tmp_path_factory.mktemp("trained") / "predictor")


@pytest.fixture(scope="session")
def sentence_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an encoder of sentences."""
    return tiny.sentence_encoder(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture
def without_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where `distributions/learned` is not installed."""
    caches = (learned_metrics.learned_metrics, new.offers)
    monkeypatch.setattr(learned_metrics, "entry_points", lambda group: [])
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()
