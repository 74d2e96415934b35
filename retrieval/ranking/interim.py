"""Stands in for `crown.conversation` until that is there."""

DEFAULT_MODEL = "cq2"
MODELS = ("cq1", "cq2", "cq3", "cq2-unweighted", "current")


def turn_weights(n_turns: int, model: str) -> list[float]:
    """Weight of each turn, oldest first."""
    if model == "cq3":
        weights = [turn / n_turns for turn in range(1, n_turns + 1)]
    else:
        weights = [0.0] * n_turns
        if n_turns > 2 and model.startswith("cq2"):
            weights[-2] = 1.0 if model == "cq2-unweighted" else (n_turns - 1) / n_turns
    weights[-1] = 1.0
    if model != "current":
        weights[0] = 1.0
    return weights
