"""Small trainings of a tiny encoder on a pattern that is easy to see."""

from pathlib import Path
from typing import Any

from distillery_learned.metrics.encoders import find_encoder
from distillery_learned.training.kpqa import encoder_for, trained
from distillery_learned.training.kpqa_files import TrainingFiles
from distillery_learned.training.kpqa_runs import Settings
from metrics.model_folders import ModelFolder
from tests.learned import tiny


def data(train: int = 64, dev: int = 16, *, seed: int = 0) -> TrainingFiles:
    """Examples of `tiny.costs` as if they had been read from a file."""
    return TrainingFiles(
        tiny.costs(train, seed=seed),
        tiny.costs(dev, seed=seed + 1),
        [{"name": "made.json", "bytes": 1, "sha256": "0" * 64, "form": "made", "read": train + dev}],
        {"read": train + dev, "kept": train + dev, "dropped": {}, "noted": {}, "train": train, "dev": dev},
    )


def settings(**options: Any) -> Settings:
    """Settings under which a tiny encoder learns in seconds."""
    small = {"epochs": 2, "batch": 8, "learning_rate": 3e-3, "longest": 64, "units": 16, "device": "cpu"}
    return Settings(**{**small, **options})


def train(
    out: Path,
    encoder: Path,
    how: Settings | None = None,
    prepared: TrainingFiles | None = None,
    **options: Any,
) -> ModelFolder:
    """A predictor trained on the pattern."""
    how = how or settings()
    found = find_encoder(str(encoder))
    return trained(
        encoder_for(str(encoder), how),
        {"name": found.name, "digest": found.digest},
        prepared or data(),
        out,
        how,
        **options,
    )
