"""What tests of learned metrics share."""

import pytest

from metrics.model_folders import ModelFolder
from tests.learned import tiny


@pytest.fixture(scope="session")
def trained_predictor(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    """A keyphrase predictor that found out what a price is; it takes a second, so tests copy its folder."""
    return tiny.kpqa_trained(tmp_path_factory.mktemp("trained") / "predictor")
