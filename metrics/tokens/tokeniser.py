"""What a tokeniser is (a function with a name that signatures quote), and where its tokens are in a text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metrics.tokens.runs import Runs


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """`split` turns a text into its tokens; `name` says which rules it follows, `version` in which form.

    Two tokenisers with the same name must split every text alike. `runs`, where a tokeniser has it, states
    the same rule as kinds of characters, by which many texts are cut at once, and quicker.
    """

    name: str
    split: Callable[[str], list[str]]
    runs: Runs | None = None
    version: int = 1

    @property
    def label(self) -> str:
        """Name and version as they stand in signatures: `ptb`, `default.2`."""
        return self.name if self.version == 1 else f"{self.name}.{self.version}"


# Scripts that put no spaces between words, where a tokeniser by words finds one long word.

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


# Where tokens stand in the text that they were cut from, though they may be written differently there.

Span = tuple[int, int]
#: What tokenisers write for marks.
_WRITTEN = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "``": '"', "''": '"', "`": "'", "...": "\u2026", "--": "\u2014",
}  # fmt: skip
_SAME = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})


def placed(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """Begin and end of each token in the text, token by token from the front; None where one is not found.

    Case and the shape of quotes do not matter. Marks and white space between tokens, or dropped within one,
    are passed over; letters and digits are not. A token that stands for something else than it says, such as
    a number written out, is not found, and the next one is looked for from the same place.
    """
    folded, places = _folded(text)
    found: list[Span | None] = []
    at = 0
    for token in tokens:
        ends = None
        for written in (token, _WRITTEN.get(token.lower(), "")):
            wanted = written.translate(_SAME).lower()
            ends = _next(folded, wanted, at) or _scattered(folded, wanted, at)
            if ends:
                break
        if ends is None:
            found.append(None)
            continue
        found.append((places[ends[0]], places[ends[1] - 1] + 1))
        at = ends[1]
    return found


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in lower case with plain quotes, and the place in the text of each of its characters."""
    parts = [character.translate(_SAME).lower() for character in text]
    places = [place for place, part in enumerate(parts) for _ in part]
    return "".join(parts), places


def _next(folded: str, wanted: str, at: int) -> Span | None:
    """The next place where the token stands as it is, if nothing but marks is passed over."""
    found = folded.find(wanted, at) if wanted else -1
    if found < 0 or any(character.isalnum() for character in folded[at:found]):
        return None
    return found, found + len(wanted)


def _scattered(folded: str, wanted: str, at: int) -> Span | None:
    """The same for a token that lost marks on the way, such as "eg" from "e.g."."""
    begin, place = -1, at
    for character in wanted:
        while place < len(folded) and folded[place] != character:
            if folded[place].isalnum() or (begin >= 0 and folded[place].isspace()):
                return None
            place += 1
        if place == len(folded):
            return None
        begin = place if begin < 0 else begin
        place += 1
    return (begin, place) if begin >= 0 else None
