"""From a place in a passage to an example: its sentences, with the place in them."""

import hashlib
import re

from evaluations.training.kpqa.examples import Example
from evaluations.training.kpqa.sentences import around, sentences
from metrics.learned.words import Span

_YES_OR_NO = frozenset({"yes", "no"})


class Passage:
    """A passage that several questions may be asked about; its digest is the group of their examples."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self._source = source
        self._group = digest(text)
        self._sentences = sentences(text)

    def example(self, question: str, span: Span) -> Example:
        """The example whose key phrase stands at this place of the passage."""
        begin, end = around(self._sentences, span)
        inside = self.text[begin:end]
        begin += len(inside) - len(inside.lstrip())
        place = (span[0] - begin, span[1] - begin)
        return Example(question, inside.strip(), (place,), self._source, self._group)


def digest(*texts: str) -> str:
    """A short name for texts; white space and letter case do not matter."""
    whole = "\0".join(" ".join(text.split()).casefold() for text in texts)
    return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()


def is_yes_or_no(answer: str) -> bool:
    """Whether an answer is yes or no, which no span of a passage says."""
    return answer.strip().rstrip(".!").casefold() in _YES_OR_NO


def occurrences(text: str, phrase: str, *, any_case: bool = False) -> list[Span]:
    """Where a phrase stands in a text as words of its own; white space may differ."""
    words = phrase.split()
    told = text.lower() if any_case else text
    if not words or not all((word.lower() if any_case else word) in told for word in words):
        return []
    before = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", words[-1]) else ""
    pattern = before + r"\s+".join(map(re.escape, words)) + after
    return [found.span() for found in re.finditer(pattern, text, re.IGNORECASE if any_case else 0)]
