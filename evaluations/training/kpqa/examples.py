"""What a keyphrase predictor learns from: a question, its answer sentences, and the key phrase in them."""

from dataclasses import dataclass

from metrics.learned.words import Span


@dataclass(frozen=True, slots=True)
class Example:
    """`spans` are places of the key phrase in `answer`, in characters, in order and apart.

    `source` names the form of the file it came from; examples of one `group` (a passage, a document) stand on
    the same side of the split into training and development.
    """

    question: str
    answer: str
    spans: tuple[Span, ...]
    source: str
    group: str
