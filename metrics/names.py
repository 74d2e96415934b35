"""The names of all metrics, by family, and which module makes them; nothing is loaded for it."""

from metrics.errors import MetricError

# Matches of n-grams and subsequences, alignments of words, and plain counts.
BLEU = tuple(f"bleu-{n}" for n in (1, 2, 3, 4))
ROUGE = tuple(f"rouge-{kind}{stem}" for kind in ("1", "2", "l") for stem in ("", "-stem"))
CHRF = ("chrf", "chrf++")
#: With a bonus for opinions and entities.
ADAPTED = (*(f"adapted-bleu-{n}" for n in (1, 2, 3, 4)), "adapted-rouge-l")
#: With weights that a model learned; they need questions, so they have no phrasing-aware forms.
KPQA = ("bleu-1-kpqa", "bleu-1-kpqa-repo", "rouge-l-kpqa", "rouge-l-kpqa-paper", "rouge-l-kpqa-repo")
#: By vectors of an encoder.
BERTSCORE = ("bertscore", "bertscore-kpqa", "bertscore-kpqa-repo")
#: Learned from scores that people gave.
ADEM = ("adem", "c-adem", "r-adem")
#: Metrics that do not compare two texts: what a question knows, or the length alone.
NOT_PAIRS = ("adapted-", "length")

_WRITTEN: dict[str, str] = {
    **dict.fromkeys(BLEU, "metrics.answers.bleu:make"),
    **dict.fromkeys(ROUGE, "metrics.answers.rouge:make"),
    **dict.fromkeys(CHRF, "metrics.answers.chrf:make"),
    "exact": "metrics.answers.exact:make_exact",
    "f1": "metrics.answers.exact:make_f1",
    "length": "metrics.answers.exact:make_length",
    "length-difference": "metrics.answers.exact:make_difference",
    "meteor": "metrics.answers.meteor:make",
    "cider": "metrics.answers.cider:make",
    "meteor-1.5": "metrics.answers.meteor_jar:make",
    **dict.fromkeys(ADAPTED, "metrics.answers.adapted_scores:make"),
}
_PHRASING_AWARE = tuple(f"pa-{name}" for name in _WRITTEN if not name.startswith(NOT_PAIRS))
#: By name: the module and its function that makes the metric under a profile.
MAKERS: dict[str, str] = {
    **_WRITTEN,
    **dict.fromkeys(_PHRASING_AWARE, "metrics.catalogue:make_phrasing_aware"),
    **dict.fromkeys(KPQA, "metrics.neural.kpqa:make"),
    **dict.fromkeys(BERTSCORE, "metrics.neural.bertscore:make"),
    **dict.fromkeys(ADEM, "metrics.neural.adem:make"),
}
#: Other spellings that people use.
ALIASES: dict[str, str] = {
    "bleu": "bleu-4",
    **{f"bleu{n}": f"bleu-{n}" for n in (1, 2, 3, 4)},
    **{f"rouge{kind}": f"rouge-{kind}" for kind in ("1", "2", "l")},
    "rouge": "rouge-l",
    "cider-d": "cider",
    "exact-match": "exact",
    "em": "exact",
    "token-f1": "f1",
    "chrfpp": "chrf++",
    "adapted-bleu": "adapted-bleu-4",
    "adapted-rouge": "adapted-rouge-l",
    "pa-bleu": "pa-bleu-4",
    "pa-rouge": "pa-rouge-l",
    "bleu1-kpqa": "bleu-1-kpqa",
    "rougel-kpqa": "rouge-l-kpqa",
    "bert-score": "bertscore",
    "bertscore-f1": "bertscore",
    "bert-score-kpqa": "bertscore-kpqa",
}


def plain_name(name: str) -> str:
    """A metric's name in `MAKERS`, without options in brackets; MetricError lists those that there are."""
    plain = name.strip().lower().replace("_", "-").partition("(")[0].strip()
    plain = ALIASES.get(plain, plain)
    if plain not in MAKERS:
        raise MetricError(f"There is no metric {name!r}; there are {', '.join(sorted(MAKERS))}.")
    return plain
