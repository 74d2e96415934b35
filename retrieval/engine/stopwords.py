"""Function words of a query, by language. Part of the rules for words: `analysis.RULES` names their version.

The index holds these words too, so that a query of nothing else still finds something. For languages
without a list here, tantivy has Snowball's.
"""

_ENGLISH = """
a about above after again against all also am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each either else
ever few for from further had hadn has hasn have haven having he her here hers herself him himself his how
however i if in into is isn it its itself just let ll m me mean means might mightn more most must mustn my
myself no nor not of off on once one only or other our ours ourselves out over own per please re s same shall
shan she should shouldn so some such t than that the their theirs them themselves then there these they this
those through thus to too under until up upon us ve very was wasn we were weren what when where whether which
while who whom whose why will with within without would wouldn yet you your yours yourself yourselves
"""
_ARABIC = """
من إلى الى عن على في مع هو هي هم هن نحن أنا انا أنت انت هذا هذه ذلك تلك هؤلاء التي الذي الذين ما
ماذا متى أين اين كيف لماذا لم لن لا هل كم أي اي أو او ثم قد كان كانت يكون تكون إن ان أن كل بعض بين
بعد قبل عند منذ حتى إذا اذا لكن غير كما مثل فيه فيها منه منها له لها به بها و ف ب ل ك
"""

LISTS: dict[str, tuple[str, ...]] = {
    language: tuple(words.split())
    for language, words in {
        "arabic": _ARABIC,
        "english": _ENGLISH,
    }.items()
}
