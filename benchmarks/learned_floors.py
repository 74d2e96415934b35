"""What a trained predictor of key phrases must beat: weights of words by rules of one line.

    python benchmarks/learned_floors.py ANSWERS.csv --out with-floors.csv
    python manage.py evaluate with-floors.csv --external floor-rouge-l-idf,floor-rouge-l-new …

Adds columns to a CSV with question, answer and reference1: ROUGE-L-KPQA (variant `weighted`) and BLEU-1-KPQA
(`paper`) on tokens `default`, with these weights in place of a model's:

- `flat`: 1 for every word, which is plain ROUGE-L, and clipped precision.
- `idf`: how rare the word is among the references of the file.
- `new`: 1 for a word that is not in the question, else 0.
- `new-idf`: both multiplied.
- `new-content`: 1 for a word that is neither in the question nor a function word nor a mark, else 0. English.
"""

import argparse
import csv
import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metrics.neural.kpqa import Pairs, bleu1_of, rouge_l_of  # after the path is set
from metrics.neural.pieces import cut

_FUNCTION = (
    "a an the of to in is are was were be been and or for on at by with from as it its this that these those "
    "which who whom what when where why how do does did has have had can could will would may might must not "
    "no there their his her he she they you your i we our"
)
#: English words that say little by themselves.
FUNCTION = frozenset(_FUNCTION.split())
Weigh = Callable[[Sequence[str], Sequence[str]], list[float]]


def words(text: str) -> list[str]:
    """Words and marks in lower case."""
    return [text[begin:end].lower() for begin, end in cut(text)]


def rules(references: Sequence[Sequence[str]]) -> dict[str, Weigh]:
    """The rules by name: from the words of a question and of a text to a weight for each of the latter."""
    found = Counter(word for reference in references for word in set(reference))

    def rare(word: str) -> float:
        return math.log((len(references) + 1) / (found[word] + 1))

    def new(question: Sequence[str], word: str) -> float:
        return float(word not in question)

    return {
        "flat": lambda _question, text: [1.0] * len(text),
        "idf": lambda _question, text: [rare(word) for word in text],
        "new": lambda question, text: [new(question, word) for word in text],
        "new-idf": lambda question, text: [new(question, word) * rare(word) for word in text],
        "new-content": lambda question, text: [
            new(question, word) * (word not in FUNCTION and word.isalnum()) for word in text
        ],
    }


def floors(rows: Sequence[dict[str, str]]) -> dict[str, list[float]]:
    """A column of scores by rule and metric."""
    asked, answers, references = (
        [words(row[column]) for row in rows] for column in ("question", "answer", "reference1")
    )
    columns: dict[str, list[float]] = {}
    for name, weigh in rules(references).items():
        weights = [[weigh(*both) for both in zip(asked, of, strict=True)] for of in (answers, references)]
        pairs = Pairs.of(answers, references, *weights)
        columns[f"floor-rouge-l-{name}"] = rouge_l_of(pairs)[2].tolist()
        columns[f"floor-bleu-1-{name}"] = bleu1_of(pairs).tolist()
    return columns


def main() -> None:
    """Writes the file with more columns."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("answers", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.answers.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = floors(rows)
    with options.out.open("w", newline="", encoding="utf-8") as file:
        written = csv.DictWriter(file, [*rows[0], *columns])
        written.writeheader()
        for at, row in enumerate(rows):
            written.writerow({**row, **{name: repr(column[at]) for name, column in columns.items()}})
    print(f"Written: {options.out}; --external {','.join(columns)}")


if __name__ == "__main__":
    main()
