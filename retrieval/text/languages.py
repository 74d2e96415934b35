"""What the rules for words know of a language, by its BCP 47 tag."""

import hashlib
import re
from collections.abc import Iterable, Set
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tantivy import TextAnalyzer


#: Languages with a Snowball stemmer, by code: Snowball's name of each.
SNOWBALL = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
#: Languages that put no spaces between words, or that we cut as if they did not.
UNSPACED = frozenset({"bo", "dz", "ja", "km", "ko", "lo", "my", "th", "yue", "zh"})
#: Inside of a character class: the letters of those languages.
UNSPACED_CHARACTERS = (
    r"\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    r"\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)


@cache
def primary(language: str) -> str:
    """The language of a BCP 47 tag: zh of zh-Hans-CN."""
    return re.split(r"[-_]", language.strip().lower(), maxsplit=1)[0]


# Function words, by language: one list for index, network, queries and passages.
#
# Part of the rules for words: whoever stores words stores `tokens.fingerprint` with them. The index holds
# function words too, so that a query of nothing else still finds something. For languages without a list
# here, tantivy has Snowball's; it cannot be listed, so it is asked word by word.

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
#: Languages that Snowball stems and has no function words of.
UNLISTED = frozenset({"greek", "romanian", "tamil", "turkish"})
#: Words whose answers are kept, by language; a vocabulary of its own is more than the answers save.
_MOST_KEPT = 500_000


class FunctionWords:
    """The function words of a language, as far as they are known."""

    def __init__(self, code: str) -> None:
        self._list = SNOWBALL.get(code, "")
        self._words = set(LISTS.get(self._list, ()))
        self._others: set[str] = set()
        self._is_asked = bool(self._list) and self._list not in LISTS and self._list not in UNLISTED

    @property
    def name(self) -> str:
        """Which list it is: it changes whenever one of ours does."""
        if self._list in LISTS:
            return f"{self._list}-{hashlib.sha256(' '.join(LISTS[self._list]).encode()).hexdigest()[:8]}"
        return f"snowball-{self._list}" if self._is_asked else "none"

    def among(self, words: Iterable[str]) -> Set[str]:
        """All function words among lower-case words, and maybe others that are known."""
        if self._is_asked:
            if len(self._others) > _MOST_KEPT:
                self._others = set()
            for word in set(words).difference(self._others, self._words):
                (self._words if _is_in_snowball(word, self._list) else self._others).add(word)
        return self._words


@cache
def function_words(code: str) -> FunctionWords:
    """The function words of a language, by its code as `languages.primary` gives it."""
    return FunctionWords(code)


def _is_in_snowball(word: str, name: str) -> bool:
    return not _snowball(name).analyze(word)


@cache
def _snowball(name: str) -> "TextAnalyzer":
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer  # only where it is asked

    return TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stopword(name)).build()
