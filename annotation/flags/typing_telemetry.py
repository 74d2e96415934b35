"""How an answer came into its box, as far as the task page measured it.

The page measures an assignment, not a unit: where a HIT holds several answers, these flags are about all of
them together and stand at each. Who works without a script is measured by nothing and never flagged.

- `pasted`: pasted characters make at least `pasted_share` of the characters of the assignment's answers, and
  there are `LEAST_PASTED` of them or more. What was pasted may have been taken out again, so the share can
  pass 1; it is cut there.
- `typing-rate`: keys that the typed part needs per minute of active work pass `typing_rate`, for 40 typed
  characters or more. The typed part are the characters that were not pasted. Active time includes reading,
  so the true speed is higher. A character of a script without spaces counts for `KEYS_PER_CHARACTER`,
  because input methods take about three keys for one.
  Dhakal et al. 2018 (136 million keystrokes) have a mean of 52 words a minute, about 260 characters, and
  the fastest at about twice that.
"""

from annotation.flags.shapes import Flag, Limits, Work
from annotation.flags.tokens import tokens

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
