"""What the rules for words know of a language, by its BCP 47 tag."""

import re
from functools import cache

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
