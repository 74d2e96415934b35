"""Named ways of scoring: what we would do today, and what papers did to the letter."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metrics.errors import MetricError

# Kinds of models, as their cards and the settings of profiles call them.

KPQA, ADEM = "kpqa", "adem"
KINDS = (KPQA, ADEM)
#: The family of settings that hold the encoder of BERTScore.
BERTSCORE = "bertscore"


@dataclass(frozen=True, slots=True)
class Profile:
    """`metrics` are scored where none are named; `settings[family]` holds what a family does differently."""

    name: str
    says: str
    metrics: tuple[str, ...]
    tokeniser: str = "default"
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def tokeniser_for(self, family: str) -> str:
        """Name of the tokeniser of a family of metrics: its setting `tokeniser`, or else the profile's."""
        return str(self.settings.get(family, {}).get("tokeniser", self.tokeniser))

    def options(self, family: str) -> dict[str, Any]:
        """What a family does differently, without the tokeniser."""
        return {key: value for key, value in self.settings.get(family, {}).items() if key != "tokeniser"}


DEFAULT = Profile(
    "default",
    "What we would do today.",
    ("bleu-1", "bleu-4", "rouge-1", "rouge-l", "chrf", "meteor", "cider", "f1", "exact"),
)
PROFILES: dict[str, Profile] = {profile.name: profile for profile in (DEFAULT,)}

# Mitra et al. 2016, Table 2, and Yang et al. 2018 as DuReader's evaluator has it.
_DISTILLERY = Profile(
    "distillery-2016",
    "Mitra et al. (2016), Table 2: BLEU and METEOR, also weighted by the importance of references.",
    ("bleu-4", "meteor", "pa-bleu-4", "pa-meteor"),
    "distillery-fit",
    {
        "bleu": {"smoothing": "none", "effective": False},
        "meteor": {"alpha": 0.1, "gamma": 0.5, "theta": 3.0, "language": "", "synonyms": ""},
    },
)
_DUREADER = Profile(
    "dureader-2018",
    "Yang et al. (2018) on DuReader: characters, bonus weights 1 and 1, ROUGE-L with gamma 1.2.",
    ("bleu-4", "rouge-l", "adapted-bleu-4", "adapted-rouge-l"),
    "char",
    {
        "bleu": {"smoothing": "none", "effective": False},
        "rouge": {"beta": 1.2, "refs": "separate"},
        "adapted": {"alpha": 1.0, "beta": 1.0, "gamma": 1.2},
    },
)
PROFILES |= {profile.name: profile for profile in (_DISTILLERY, _DUREADER)}

# Lee et al. 2021 through coco-caption. Its tokeniser keeps "1 1/2" as one token with a no-break space within,
# which its BLEU and CIDEr split again and its ROUGE-L does not. Its keyphrase metrics take word pieces for
# tokens.
_KPQA = Profile(
    "kpqa-2021",
    "Lee et al. (2021), KPQA, through coco-caption: each reference alone, the best counts.",
    ("bleu-1", "bleu-4", "rouge-l", "cider", "meteor-1.5", "bleu-1-kpqa-repo", "rouge-l-kpqa-repo"),
    "ptb-kpqa-words",
    {
        "bleu": {"smoothing": "kpqa", "effective": False, "refs": "max"},
        "rouge": {"beta": 1.2, "refs": "best", "tokeniser": "ptb-kpqa"},
        "cider": {"refs": "max"},
        "meteor-1.5": {"tokeniser": "ptb-kpqa"},
        "kpqa": {"tokeniser": "pieces"},
    },
)
PROFILES |= {_KPQA.name: _KPQA}


def profile(name: str) -> Profile:
    """The profile of that name; MetricError names those that there are."""
    try:
        return PROFILES[name]
    except KeyError:
        raise MetricError(f"There is no profile {name!r}; there are {', '.join(PROFILES)}.") from None
