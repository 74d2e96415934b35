"""What flags an answer: language, spelling, length among others, pasting, haste, hidden words.

Most are about an answer alone and stay what they are; those in `RELATIVE` are about it among the others, and
change when another answer comes.

Whether a text is in the project's language is told by its script first, by its words only where that can be
told. The same text always gets the same verdict.

*Script.* The project's BCP 47 tag names the scripts that its language is written in; `zh-Latn` or `sr-Cyrl`
name one themselves. Of the letters of a text, those of words that stand in the query or its passages do not
count ("IBM" in a Chinese answer). Of the others, at least `LEAST_LETTERS`, half must be of an expected
script. A language that is not in the table is never wrong.

*Words.* A text of `LEAST_TOLD` letters or more in an expected script is given to py3langid; only where that
is surer than `SURE` of another language that is written in the same script is it said. It errs on names and
mixtures, so this is a warning and never more.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from statistics import fmean, median
from typing import Any

from annotation.flags import Flag, FlaggedAnswer, FlagQuery, Limits, Work
from annotation.likeness import Passages, Token, alike, copied, folded, script_of, shingles, tokens, words_of

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
    language: frozenset({script}) for script, tags in _BY_SCRIPT.items() for language in tags.split()
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


def foreign_script(text: str, tag: str, permitted_texts: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Spans of words in other scripts, where these are most of the text; else nothing.

    `permitted_texts` are those whose words may be used in any script.
    """
    expected = expected_scripts(tag)
    if not expected:
        return []
    allowed = words_of(tuple(permitted_texts))
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
    likeliest, sure = _identifier().classify(text)
    if likeliest == language or sure < SURE or any({likeliest, language} <= same for same in _SAME):
        return None
    return (str(likeliest), float(sure)) if expected & expected_scripts(str(likeliest)) else None


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@lru_cache(maxsize=1)
def _identified() -> frozenset[str]:
    return frozenset(map(str, _identifier().labels))


def language_flags(text: str, flag_query: FlagQuery) -> list[Flag]:
    """The flag `language`: another script, with its words, or another language, with its tag."""
    spans = foreign_script(text, flag_query.language, (flag_query.text, *flag_query.passages))
    if spans:
        evidence = {"spans": [{"start": start, "end": end} for start, end in spans], "what": "script"}
        return [Flag("language", None, None, evidence)]
    other = other_language(text, flag_query.language)
    if other is None:
        return []
    return [Flag("language", round(other[1], 3), SURE, {"what": "language", "language": other[0]})]


# A line in the page that people do not see and a pasted page does, asking for two odd words in the answer.
#
# The words are drawn by a seed, so that the same unit of the same stage always has the same ones, and none of
# them stands in the query or its passages. `canary`: both words stand in the answer, one after the other.

_FIRST = (
    "amber", "brindled", "cobalt", "dappled", "ermine", "fallow", "gossamer", "hazel",
    "indigo", "juniper", "lacquered", "madder", "ochre", "pewter", "russet", "umber",
)  # fmt: skip
_SECOND = (
    "lantern", "trellis", "barometer", "sextant", "thimble", "gazebo", "abacus", "carousel",
    "dulcimer", "escritoire", "galleon", "harpsichord", "marionette", "obelisk", "periscope", "weathervane",
)  # fmt: skip


def phrase(seed: str, texts: Iterable[str] = ()) -> str:
    """The two words of a seed; not such as stand in `texts` already."""
    text_words = {word for text in texts for word in folded(text)}
    rng = random.Random(f"canary:{seed}")
    first = [word for word in _FIRST if word not in text_words] or list(_FIRST)
    second = [word for word in _SECOND if word not in text_words] or list(_SECOND)
    return f"{rng.choice(first)} {rng.choice(second)}"


def canary_flags(text: str, canary: str) -> list[Flag]:
    """The flag `canary`; without words the canary is off."""
    canary_words = folded(canary)
    if not canary_words:
        return []
    text_tokens = tokens(text)
    for at in range(len(text_tokens) - len(canary_words) + 1):
        if tuple(token.folded for token in text_tokens[at : at + len(canary_words)]) == canary_words:
            span = {"start": text_tokens[at].start, "end": text_tokens[at + len(canary_words) - 1].end}
            return [Flag("canary", None, None, {"spans": [span], "phrase": canary})]
    return []


# Answers far longer or shorter than the others of their query.
#
# `length`: the modified z-score of the logarithm of the length in characters is beyond `length_z` on either
# side (Iglewicz & Hoaglin 1993: 0.6745 · distance to the median ÷ median absolute deviation; where that
# deviation is zero, distance ÷ 1.2533 · mean absolute deviation), the length differs from the median by the
# factor `FACTOR` at least, and the query has `LEAST` answers or more.

LEAST = 5
FACTOR = 3.0


def scores(lengths: Sequence[int]) -> list[float]:
    """The modified z-score of each length; zeros where all are the same."""
    logs = [log(max(1, length)) for length in lengths]
    if not logs:
        return []
    middle = median(logs)
    distances = [abs(value - middle) for value in logs]
    scale = median(distances) / 0.6745
    if not scale:
        scale = fmean(distances) * 1.2533
    return [(value - middle) / scale if scale else 0.0 for value in logs]


def outliers(lengths: Mapping[int, int], limits: Limits) -> dict[int, list[Flag]]:
    """The flag `length` by the answers' keys."""
    if len(lengths) < LEAST:
        return {}
    middle = median(lengths.values())
    flags = {}
    for (key, length), score in zip(lengths.items(), scores(list(lengths.values())), strict=True):
        factor = max(length, 1) / max(middle, 1)
        if abs(score) > limits.length_z and max(factor, 1 / factor) >= FACTOR:
            evidence = {"length": length, "median": middle, "compared": len(lengths)}
            flags[key] = [Flag("length", round(score, 2), limits.length_z, evidence)]
    return flags


# Words that are in no dictionary: a hint for writers, a share for reviewers.
#
# The dictionaries are those of pyspellchecker (frequency lists); a language without one has no hints. A word
# is unknown when it has three letters or more, no digit, is not in the dictionary, does not stand in the
# query or a passage, and is not written with a capital inside a sentence or in capitals throughout (a name).
#
# `spelling`: unknown words make at least `spelling_share` of a text with `LEAST` words or more.

LANGUAGES = frozenset({"en", "es", "fr", "pt", "de", "it", "ru", "ar", "eu", "lv", "nl", "fa"})
LEAST_MISSPELT = 6
_SHORTEST = 3
_ENDS = ".!?\u061f\u06d4:"


@lru_cache(maxsize=4)
def _dictionary(language: str) -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language=language, distance=1)


def unknown_words(text: str, flag_query: FlagQuery) -> list[tuple[int, int]]:
    """Spans of unknown words; none in a language without a dictionary."""
    language = flag_query.language.lower().partition("-")[0]
    if language not in LANGUAGES:
        return []
    own_words = words_of((flag_query.text, *flag_query.passages))
    tried = [token for token in tokens(text) if _may_be_wrong(text, token) and token.folded not in own_words]
    if not tried:
        return []
    candidates = {text[token.start : token.end].replace("\u2019", "'").lower() for token in tried}
    unknown = _dictionary(language).unknown(candidates | {token.folded for token in tried})
    return [
        (token.start, token.end)
        for token in tried
        if token.folded in unknown and text[token.start : token.end].replace("\u2019", "'").lower() in unknown
    ]


def _may_be_wrong(text: str, token: Token) -> bool:
    word = text[token.start : token.end]
    if token.spaceless or len(word) < _SHORTEST or any(each.isdigit() for each in word):
        return False
    if word.isupper() and len(word) > 1:
        return False
    if word[0].isupper():
        before = text[: token.start].rstrip(" \t\n\"'(\u201c\u2018\u00ab")
        return not before or before[-1] in _ENDS
    return True


def spelling_flags(text: str, flag_query: FlagQuery, limits: Limits) -> list[Flag]:
    """The flag `spelling`."""
    word_tokens = [token for token in tokens(text) if not token.spaceless]
    if len(word_tokens) < LEAST_MISSPELT:
        return []
    unknown = unknown_words(text, flag_query)
    share = len(unknown) / len(word_tokens)
    if not unknown or share < limits.spelling_share:
        return []
    evidence = {"spans": [{"start": start, "end": end} for start, end in unknown], "of": len(word_tokens)}
    return [Flag("spelling", round(share, 4), limits.spelling_share, evidence)]


# How an answer came into its box, as far as the task page measured it.
#
# The page measures an assignment, not a unit: where a HIT holds several answers, these flags are about all of
# them together and stand at each. Who works without a script is measured by nothing and never flagged.
#
# - `pasted`: pasted characters make at least `pasted_share` of the characters of the assignment's answers,
#   and there are `LEAST_PASTED` of them or more. What was pasted may have been taken out again, so the share
#   can pass 1; it is cut there.
# - `typing-rate`: keys that the typed part needs per minute of active work pass `typing_rate`, for 40 typed
#   characters or more. The typed part are the characters that were not pasted. Active time includes reading,
#   so the true speed is higher. A character of a script without spaces counts for `KEYS_PER_CHARACTER`,
#   because input methods take about three keys for one. Dhakal et al. 2018 (136 million keystrokes) have a
#   mean of 52 words a minute, about 260 characters, and the fastest at about twice that.

KEYS_PER_CHARACTER = 3
LEAST_PASTED = 20
_LEAST_TYPED = 40
_MINUTE_MS = 60_000


def pasted(work: Work | None, limits: Limits) -> list[Flag]:
    """The flag `pasted`."""
    if work is None or not work.pasted_characters or not work.characters:
        return []
    share = min(1.0, work.pasted_characters / work.characters)
    if work.pasted_characters < LEAST_PASTED or share < limits.pasted_share:
        return []
    evidence = {"pasted": work.pasted_characters, "characters": work.characters}
    return [Flag("pasted", round(share, 4), limits.pasted_share, evidence)]


def too_fast(text: str, work: Work | None, limits: Limits) -> list[Flag]:
    """The flag `typing-rate`; `text` tells which script the keys are counted for."""
    if work is None or not work.active_ms:
        return []
    typed = work.characters - (work.pasted_characters or 0)
    if typed < _LEAST_TYPED:
        return []
    rate = typed * keys_per_character(text) / (work.active_ms / _MINUTE_MS)
    if rate <= limits.typing_rate:
        return []
    evidence = {"typed": typed, "active_s": round(work.active_ms / 1000, 1), "keystrokes": work.keystrokes}
    return [Flag("typing-rate", round(rate, 1), limits.typing_rate, evidence)]


def keys_per_character(text: str) -> float:
    """Keys that a character of this text takes on average."""
    if not text:
        return 1.0
    spaceless = sum(token.spaceless for token in tokens(text))
    return (len(text) + spaceless * (KEYS_PER_CHARACTER - 1)) / len(text)


RELATIVE = frozenset({"identical", "near-identical", "length"})


def flags_of(
    flag_query: FlagQuery, answers: Sequence[FlaggedAnswer], limits: Limits, *, check_language: bool = True
) -> dict[int, list[Flag]]:
    """Flags by the answers' keys, each at most once per name; an entry for every answer.

    The order of the answers makes no difference to what is found.
    """
    flags_by_answer = own_flags(flag_query, answers, limits, check_language=check_language)
    for key, flags in relative_flags(answers, limits).items():
        flags_by_answer[key].extend(flags)
    return flags_by_answer


def own_flags(
    flag_query: FlagQuery, answers: Sequence[FlaggedAnswer], limits: Limits, *, check_language: bool = True
) -> dict[int, list[Flag]]:
    """Flags of each answer alone; an entry for every answer."""
    passages = Passages(flag_query.passages)
    return {
        answer.key: [
            *copied(answer.text, passages, limits),
            *pasted(answer.work, limits),
            *too_fast(answer.text, answer.work, limits),
            *spelling_flags(answer.text, flag_query, limits),
            *(language_flags(answer.text, flag_query) if check_language else []),
            *canary_flags(answer.text, answer.canary),
            *empty_flags(answer.text, limits),
            *reference_flags(answer.text),
            *listed_flags(answer.text, limits),
        ]
        for answer in answers
    }


def relative_flags(answers: Sequence[FlaggedAnswer], limits: Limits) -> dict[int, list[Flag]]:
    """Flags of answers among the others; an entry for every answer."""
    lengths = {answer.key: len(answer.text) for answer in sorted(answers, key=lambda each: each.key)}
    flags_by_answer: dict[int, list[Flag]] = {answer.key: [] for answer in answers}
    for more in (alike(answers, limits), outliers(lengths, limits)):
        for key, flags in more.items():
            flags_by_answer[key].extend(flags)
    return flags_by_answer


# Answers that say nothing by themselves.
#
# `near-empty`: fewer words than `least_words`, or only such as people type to get on. A name or a number is a
# whole answer. Of scripts without spaces, pairs of characters count as words.
# `self-referring`: phrases of people who answered elsewhere, or who do not know, in English; of a long answer
# only at its beginning, since "as mentioned above" within an explanation is usual.

_POINTS = re.compile(
    r"\b(see|as|same|like|look|read|refer|stated|mentioned|written|answered|given|said)\b[^.!?]{0,30}"
    r"\b(above|below|before|already|earlier|previous|previously|passages?|links?)\b"
    r"|\b(idk|dunno|no idea|no answer|not sure|n/a|google it|look it up)\b"
    r"|\b(do not|don['\u2019]?t|cannot|can['\u2019]?t) (know|answer|find)\b",
    re.IGNORECASE,
)
_SHORT, _BEGINNING = 8, 25
_FILLERS = frozenset(
    {"asdf", "good", "na", "nice", "nil", "none", "nothing", "null", "ok", "okay", "test", "x", "xx"}
)


def empty_flags(text: str, limits: Limits) -> list[Flag]:
    """The flag `near-empty`, or none."""
    text_shingles = shingles(text)
    if len(text_shingles) >= limits.least_words and not text_shingles <= _FILLERS:
        return []
    return [Flag("near-empty", float(len(text_shingles)), float(limits.least_words))]


def reference_flags(text: str) -> list[Flag]:
    """The flag `self-referring`, or none."""
    match = _POINTS.search(text)
    if match is None or (len(tokens(text)) > _SHORT and match.start() > _BEGINNING):
        return []
    return [Flag("self-referring", evidence={"spans": [{"start": match.start(), "end": match.end()}]})]


# Words that a researcher listed, such as offensive ones.
#
# `listed-word`: how many words of the answer are on the stage's list; case, vowel marks and full-width forms
# make no difference. An entry of several words is found where they follow one another. No list is shipped:
# which words offend depends on the language, the place and the time.


def listed_flags(text: str, limits: Limits) -> list[Flag]:
    """The flag `listed-word`, or none."""
    entries = {folded_words for entry in limits.listed_words if (folded_words := folded(entry))}
    if not entries:
        return []
    text_tokens = tokens(text)
    folded_words = tuple(token.folded for token in text_tokens)
    spans = [
        {"start": text_tokens[at].start, "end": text_tokens[at + size - 1].end}
        for size in sorted({len(entry) for entry in entries})
        for at in range(len(folded_words) - size + 1)
        if folded_words[at : at + size] in entries
    ]
    return [Flag("listed-word", float(len(spans)), None, {"spans": spans})] if spans else []
