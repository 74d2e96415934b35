"""Whether a text is in the project's language: by its script first, by its words only where that can be told.

*Script.* The project's BCP 47 tag names the scripts that its language is written in; `zh-Latn` or
`sr-Cyrl` name one themselves. Of the letters of a text, those of words that stand in the query or its
passages do not count ("IBM" in a Chinese answer). Of the others, at least `LEAST_LETTERS`, half must be of an
expected script. A language that is not in the table is never wrong.

*Words.* A text of `LEAST_TOLD` letters or more in an expected script is given to py3langid; only where that
is surer than `SURE` of another language that is written in the same script is it said. It errs on names and
mixtures, so this is a warning and never more.

The same text always gets the same verdict.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from annotation.flags.registry import Flag, FlagQuery
from annotation.flags.tokens import script_of, tokens, words_of

LEAST_LETTERS = 4
LEAST_TOLD = 60
SURE = 0.98

_HAN, _KANA = frozenset({"CJK"}), frozenset({"HIRAGANA", "KATAKANA"})
_BY_SCRIPT: dict[str, str] = {
    "LATIN": "af az bs ca cs cy da de en es et eu fi fr ga gl hr hu id is it lt lv ms mt nl no nb nn pl pt "
    "ro sk sl sq sv sw tl tr vi xh zu",
    "CYRILLIC": "be bg kk ky mk mn ru tg uk",
    "ARABIC": "ar fa ps sd ug ur",
    "HEBREW": "he yi",
    "GREEK": "el",
    "DEVANAGARI": "hi mr ne sa",
    "BENGALI": "as bn",
    "GURMUKHI": "pa",
    "GUJARATI": "gu",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "SINHALA": "si",
    "THAI": "th",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "ETHIOPIC": "am ti",
}
_BY_LANGUAGE: dict[str, frozenset[str]] = {
    language: frozenset({script}) for script, some in _BY_SCRIPT.items() for language in some.split()
} | {
    "zh": _HAN,
    "yue": _HAN,
    "ja": _HAN | _KANA,
    "ko": frozenset({"HANGUL"}) | _HAN,
    "sr": frozenset({"CYRILLIC", "LATIN"}),
    "uz": frozenset({"CYRILLIC", "LATIN"}),
}
_BY_TAG = {
    "latn": frozenset({"LATIN"}),
    "cyrl": frozenset({"CYRILLIC"}),
    "arab": frozenset({"ARABIC"}),
    "hans": _HAN,
    "hant": _HAN,
    "jpan": _HAN | _KANA,
    "deva": frozenset({"DEVANAGARI"}),
}
#: Tags of one language, or of those that no short text tells apart.
_SAME = [
    {"no", "nb", "nn", "da"},
    {"hr", "bs", "sr"},
    {"id", "ms"},
    {"cs", "sk"},
    {"gl", "pt"},
    {"zh", "yue"},
]
_WIDE = {"FULLWIDTH": "LATIN", "HALFWIDTH": "KATAKANA", "IDEOGRAPHIC": "CJK"}


def expected_scripts(tag: str) -> frozenset[str]:
    """Scripts of a language by its tag; empty where we do not know."""
    language, *parts = tag.lower().replace("_", "-").split("-")
    for part in parts:
        if part in _BY_TAG:
            return _BY_TAG[part]
    return _BY_LANGUAGE.get(language, frozenset())


def foreign_script(text: str, tag: str, known: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Spans of words in other scripts, where these are most of the text; else nothing.

    `known` are texts whose words may be used in any script.
    """
    expected = expected_scripts(tag)
    if not expected:
        return []
    allowed = words_of(tuple(known))
    right = wrong = 0
    spans = []
    for token in tokens(text):
        scripts = [script for each in text[token.start : token.end] if (script := _script(each))]
        inside = sum(script in expected for script in scripts)
        right += inside
        if inside < len(scripts) and token.folded not in allowed:
            wrong += len(scripts) - inside
            spans.append((token.start, token.end))
    if right + wrong < LEAST_LETTERS or wrong <= right:
        return []
    return spans


def _script(letter: str) -> str:
    script = script_of(letter)
    return _WIDE.get(script, script)


def other_language(text: str, tag: str) -> tuple[str, float] | None:
    """Another language of the same script that the text is in, with how sure that is; None for none."""
    language = tag.lower().partition("-")[0]
    expected = expected_scripts(tag)
    letters = sum(_script(each) in expected for each in text)
    if letters < LEAST_TOLD or language not in _identified():
        return None
    found, sure = _identifier().classify(text)
    if found == language or sure < SURE or any({found, language} <= same for same in _SAME):
        return None
    return (str(found), float(sure)) if expected & expected_scripts(str(found)) else None


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@lru_cache(maxsize=1)
def _identified() -> frozenset[str]:
    return frozenset(map(str, _identifier().labels))


def language_flags(text: str, asked: FlagQuery) -> list[Flag]:
    """The flag `language`: another script, with its words, or another language, with its tag."""
    spans = foreign_script(text, asked.language, (asked.text, *asked.passages))
    if spans:
        evidence = {"spans": [{"start": start, "end": end} for start, end in spans], "what": "script"}
        return [Flag("language", None, None, evidence)]
    other = other_language(text, asked.language)
    if other is None:
        return []
    return [Flag("language", round(other[1], 3), SURE, {"what": "language", "language": other[0]})]
