"""All flags of the answers of one query."""

from collections.abc import Sequence

from annotation.flags.canary import canary_flags
from annotation.flags.copying import Passages, copied
from annotation.flags.language import language_flags
from annotation.flags.length import outliers
from annotation.flags.likeness import alike
from annotation.flags.shapes import Asked, Flag, Limits, Written
from annotation.flags.spelling import spelling_flags
from annotation.flags.typing import pasted, too_fast


def flags_of(
    asked: Asked, answers: Sequence[Written], limits: Limits, *, check_language: bool = True
) -> dict[int, list[Flag]]:
    """Flags by the answers' keys, each at most once per name; an entry for every answer.

    The order of the answers makes no difference to what is found.
    """
    passages = Passages(asked.passages)
    found = {
        answer.key: [
            *copied(answer.text, passages, limits),
            *pasted(answer.work, limits),
            *too_fast(answer.text, answer.work, limits),
            *spelling_flags(answer.text, asked, limits),
            *(language_flags(answer.text, asked) if check_language else []),
            *canary_flags(answer.text, answer.canary),
        ]
        for answer in answers
    }
    lengths = {answer.key: len(answer.text) for answer in sorted(answers, key=lambda each: each.key)}
    for more in (alike(answers, limits), outliers(lengths, limits)):
        for key, flags in more.items():
            found[key].extend(flags)
    return found
