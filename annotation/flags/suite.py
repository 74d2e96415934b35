"""All flags of the answers of one query.

Most are about an answer alone and stay what they are; those in `RELATIVE` are about it among the others, and
change when another answer comes.
"""

from collections.abc import Sequence

from annotation.flags.canary import canary_flags
from annotation.flags.language import language_flags
from annotation.flags.length import outliers
from annotation.flags.likeness import alike
from annotation.flags.shapes import Flag, FlaggedAnswer, FlagQuery, Limits
from annotation.flags.spelling import spelling_flags
from annotation.flags.typing_telemetry import pasted, too_fast
from annotation.flags.verbatim import Passages, copied
from annotation.flags.word_list import listed_flags

RELATIVE = frozenset({"identical", "near-identical", "length"})


def flags_of(
    asked: FlagQuery, answers: Sequence[FlaggedAnswer], limits: Limits, *, check_language: bool = True
) -> dict[int, list[Flag]]:
    """Flags by the answers' keys, each at most once per name; an entry for every answer.

    The order of the answers makes no difference to what is found.
    """
    found = own_flags(asked, answers, limits, check_language=check_language)
    for key, flags in relative_flags(answers, limits).items():
        found[key].extend(flags)
    return found


def own_flags(
    asked: FlagQuery, answers: Sequence[FlaggedAnswer], limits: Limits, *, check_language: bool = True
) -> dict[int, list[Flag]]:
    """Flags of each answer alone; an entry for every answer."""
    passages = Passages(asked.passages)
    return {
        answer.key: [
            *copied(answer.text, passages, limits),
            *pasted(answer.work, limits),
            *too_fast(answer.text, answer.work, limits),
            *spelling_flags(answer.text, asked, limits),
            *(language_flags(answer.text, asked) if check_language else []),
            *canary_flags(answer.text, answer.canary),
            *listed_flags(answer.text, limits),
        ]
        for answer in answers
    }


def relative_flags(answers: Sequence[FlaggedAnswer], limits: Limits) -> dict[int, list[Flag]]:
    """Flags of answers among the others; an entry for every answer."""
    lengths = {answer.key: len(answer.text) for answer in sorted(answers, key=lambda each: each.key)}
    found: dict[int, list[Flag]] = {answer.key: [] for answer in answers}
    for more in (alike(answers, limits), outliers(lengths, limits)):
        for key, flags in more.items():
            found[key].extend(flags)
    return found
