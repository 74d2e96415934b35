"""Scripts that put no spaces between words, where a tokeniser by words finds one long word."""

import re

#: Thai, Lao, Tibetan, Burmese, Khmer, kana and Han; Korean and Vietnamese have spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LETTERS = re.compile(r"[^\W\d_]")
#: Tokenisers that take characters, and so need no spaces.
_BY_CHARACTER = frozenset({"char", "char-lower"})
_MANY = 0.05


def is_unspaced(text: str) -> bool:
    """Whether most letters of the text are of a script without spaces between words."""
    if text.isascii():
        return False
    return 2 * len(_UNSPACED.findall(text)) > len(_LETTERS.findall(text)) > 0


def spacing_warning(unspaced: int, answers: int, tokeniser: str) -> list[str]:
    """What to say where `unspaced` of the answers would be one long word each under the tokeniser."""
    if tokeniser in _BY_CHARACTER or unspaced <= _MANY * answers:
        return []
    return [
        f"{unspaced:,} of {answers:,} answers are in a script without spaces between words (as Chinese, "
        f"Japanese or Thai), where the tokeniser {tokeniser} finds one long word. Scores by words are "
        "then mostly 0 or 1. Choose --tokeniser char, or read chrF, which needs no words."
    ]
