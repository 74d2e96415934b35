"""What the entry point `distillery.metrics` gives: the metrics of this package, and their models."""

from collections.abc import Sequence
from importlib import import_module

from distillery_learned.metrics import missing
from metrics.catalogue import ADEM, BERTSCORE, KPQA
from metrics.learned_metrics import EncoderFolder, LearnedMetrics
from metrics.model_folders import Choice
from metrics.profiles import Profile
from metrics.texts import Floats, Metric

#: By name: the module that makes the metric, loaded with the first of its kind.
_MODULES = {
    **dict.fromkeys(KPQA, "distillery_learned.metrics.kpqa"),
    **dict.fromkeys(BERTSCORE, "distillery_learned.metrics.bertscore"),
    **dict.fromkeys(ADEM, "distillery_learned.metrics.adem"),
}


class InstalledMetrics(LearnedMetrics):
    """Loads each part when it is asked for."""

    def missing(self) -> str:
        """What of the packages that these metrics rest on is not installed."""
        return missing()

    def make(self, name: str, profile: Profile) -> Metric:
        """A metric by the models and the encoder that the profile names."""
        metric: Metric = import_module(_MODULES[name]).make(name, profile)
        return metric

    def find_encoder(self, name: str) -> EncoderFolder:
        """Its files, digest and layers; nothing is loaded."""
        from distillery_learned.metrics.encoders import find_encoder

        return find_encoder(name)

    def fetch_encoder(self, name: str) -> None:
        """Have it in the local cache, and see whether it can be loaded."""
        from distillery_learned.metrics.encoders import encoder

        encoder(name, download=True)

    def weigh(self, model: Choice, pairs: Sequence[tuple[str, str]], cache: str) -> list[Floats]:
        """Weights are kept in the folder `cache`."""
        from distillery_learned.metrics.word_weights import weigher

        return [each.weights for each in weigher(model, cache).weigh(pairs)]
