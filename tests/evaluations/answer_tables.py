"""Tables of answers with human scores, made up: the better an answer, the more words of its reference."""

import csv
import io
import random

WORDS = ("stone", "river", "bridge", "tower", "market", "garden", "winter", "harbour", "copper", "signal")


def invented(questions=30, systems=("A", "B", "C"), seed=1, scale=(1, 5)):
    """Rows as dictionaries: each system keeps some words of the reference, and people see how many."""
    chance = random.Random(seed)
    rows = []
    low, high = scale
    for number in range(questions):
        reference = chance.sample(WORDS, 6)
        for place, system in enumerate(systems):
            kept = min(6, max(0, chance.randrange(3 + place, 6 + place) - 1))
            answer = reference[:kept] + chance.sample(WORDS, 6 - kept)
            share = min(1.0, max(0.0, kept / 6 + chance.uniform(-0.2, 0.2)))
            rows.append(
                {
                    "question": f"what stands at place {number}",
                    "answer": " ".join(answer),
                    "reference1": " ".join(reference),
                    "scores": f"{low + (high - low) * share:.4f}",
                    "system": system,
                    "type": ("where", "what")[number % 2],
                }
            )
    return rows


def as_csv(rows, *columns, delimiter=","):
    """The rows as CSV, of some columns or of all."""
    names = list(columns or rows[0])
    text = io.StringIO()
    writer = csv.DictWriter(text, names, delimiter=delimiter, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
