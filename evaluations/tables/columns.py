"""Which column holds what: as given with `--column`, the rest by the names that people use."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluations.errors import EvaluationError

#: Fields that one column holds, each with the names that are taken for it, the likeliest first.
ONE: dict[str, tuple[str, ...]] = {
    "question": ("question", "query", "question_text", "query_text", "prompt", "q"),
    "answer": (
        "answer",
        "candidate",
        "response",
        "prediction",
        "hypothesis",
        "generated_answer",
        "candidate_answer",
        "system_answer",
        "model_answer",
        "system_output",
        "model_output",
        "output",
        "generated",
        "predicted_answer",
        "predicted",
        "pred",
        "hyp",
        "answer_text",
        "candidate_text",
        "generated_text",
        "system_response",
        "model_response",
    ),
    "scores": (
        "scores",
        "human_scores",
        "human_score",
        "human",
        "human_mean",
        "human_avg",
        "mean_human_score",
        "avg_human_score",
        "human_rating",
        "human_ratings",
        "human_judgment",
        "human_judgement",
        "human_eval",
        "score",
        "mean_score",
        "score_mean",
        "mean",
        "rating",
        "mean_rating",
        "correctness",
        "average_score",
        "avg_score",
        "average",
        "avg",
        "quality",
        "mos",
    ),
    "system": ("system", "model", "method", "system_name", "model_name", "system_id", "model_id", "run"),
    "type": ("type", "query_type", "question_type", "qtype", "category"),
    "label": ("label", "opinion", "yes_no", "yesno", "answer_opinion"),
    "entities": ("entities", "gold_entities"),
    "question_id": ("question_id", "query_id", "qid", "questionid", "queryid", "q_id", "item_id"),
    "response_filter": ("response_filter",),
    "simulated": ("simulated", "is_simulated"),
    "id": ("id", "candidate_id", "answer_id", "response_id", "example_id", "row_id", "uid"),
}
#: Fields that several columns may hold together, each with the shape of their names.
SEVERAL: dict[str, re.Pattern[str]] = {
    "references": re.compile(
        r"(references?|refs?|golds?|(gold|reference|correct|ref|true|expected|target|gt)_(references?|answers?)"
        r"|ground_?truths?(_answers?)?|targets?|references?_texts?|expected)_?\d*"
    ),
    "labels": re.compile(r"labels|(reference|ref)_(labels?|opinions?)_?\d*|(label|opinion)_?\d+"),
    "ratings": re.compile(
        r"(individual_|single_|raw_|all_)?(ratings|(individual_|single_)scores)"
        r"|(human_)?(ratings?|scores?|raters?|annotators?|judges?|judgments?|workers?|humans?|annotations?)_?\d+"
    ),
}
FIELDS = (*ONE, *SEVERAL)
#: Names of ours for one of several columns: reference1, score2, label3.
_NUMBERED = {"reference": "references", "score": "ratings", "rating": "ratings", "label": "labels"}
_TYPED = re.compile(r"(reference|score|rating|label)(\d+)")
_DIGITS = re.compile(r"(\d+)$")


@dataclass(frozen=True, slots=True)
class Places:
    """Places of columns, from 0: of fields of one column, and of fields of several in their order."""

    one: Mapping[str, int]
    several: Mapping[str, tuple[int, ...]]
    external: Mapping[str, int]
    #: Fields that were found by name and not given.
    guessed: frozenset[str]


def places_of(
    columns: Sequence[str], given: Mapping[str, str], external: Sequence[str], *, name: str
) -> Places:
    """Where each field stands. `given` maps fields to columns; an empty name turns a field off.

    EvaluationError for a field or column that there is not, and for two columns of one name where it matters.
    """
    header = _Header(columns, name)
    chosen = _chosen(header, given)
    taken = {place for places in chosen.values() for place in places}
    others: dict[str, int] = {}
    for each in external:
        others[each] = header.place(each, f"--external {each}")
        if others[each] in taken:
            raise EvaluationError(f"--external {each}: the column {each!r} is given to a field as well.")
    taken |= set(others.values())
    one = {field: places[0] for field, places in chosen.items() if field in ONE and places}
    several = {field: tuple(places) for field, places in chosen.items() if field in SEVERAL and places}
    guessed = set()
    for field, names in ONE.items():
        if field in chosen:
            continue
        for each in names:
            found = header.known(each, taken)
            if found is not None:
                one[field] = found
                taken.add(found)
                guessed.add(field)
                break
    for field, shape in SEVERAL.items():
        if field not in chosen and (fits := header.fitting(shape, taken)):
            several[field] = fits
            taken |= set(fits)
            guessed.add(field)
    return Places(one, several, others, frozenset(guessed))


class _Header:
    """The names of a file's columns, as people mean them: case, blanks and hyphens make no difference."""

    def __init__(self, columns: Sequence[str], name: str) -> None:
        self.columns = [each.strip() for each in columns]
        self.plain = [_plain(each) for each in self.columns]
        self.name = name

    def place(self, column: str, asked: str) -> int:
        """The column of a name that was given; as it is written, else whatever its case."""
        wanted = column.strip()
        found = [place for place, each in enumerate(self.columns) if each == wanted]
        found = found or [place for place, each in enumerate(self.plain) if each == _plain(wanted)]
        if not found:
            raise EvaluationError(
                f"{self.name}: {asked}: there is no column {wanted!r}; there are {listed(self.columns)}."
            )
        self._single(found)
        return found[0]

    def known(self, name: str, taken: set[int]) -> int | None:
        found = [place for place, each in enumerate(self.plain) if each == name and place not in taken]
        if found:
            self._single(found)
        return found[0] if found else None

    def fitting(self, shape: re.Pattern[str], taken: set[int]) -> tuple[int, ...]:
        """Columns whose names have a shape, in the order of the numbers at their ends."""
        found = [
            place for place, each in enumerate(self.plain) if place not in taken and shape.fullmatch(each)
        ]
        for place in found:
            self._single([other for other in found if self.plain[other] == self.plain[place]])
        return tuple(sorted(found, key=self._number))

    def _number(self, place: int) -> tuple[int, int]:
        number = _DIGITS.search(self.plain[place])
        return (int(number[1]) if number else -1, place)

    def _single(self, places: list[int]) -> None:
        if len(places) > 1:
            column = self.columns[places[0]][:60]
            raise EvaluationError(
                f"{self.name}, line 1: two columns are named {column!r}. Rename one, for "
                "example to reference2; which one is meant cannot be told."
            )


def _chosen(header: _Header, given: Mapping[str, str]) -> dict[str, list[int]]:
    chosen: dict[str, list[int]] = {}
    owners: dict[int, str] = {}
    for asked, theirs in given.items():
        field = _field(asked)
        places = chosen.setdefault(field, [])
        for column in _columns(header, field, theirs):
            place = header.place(column, f"--column {asked}={theirs}")
            if place in owners:
                raise EvaluationError(f"--column {asked}={theirs}: that column is {owners[place]} already.")
            owners[place] = asked
            places.append(place)
    return chosen


def _field(asked: str) -> str:
    name = _plain(asked)
    typed = _TYPED.fullmatch(name)
    name = _NUMBERED[typed[1]] if typed else {"score": "scores", "reference": "references"}.get(name, name)
    if name not in FIELDS:
        raise EvaluationError(
            f"--column {asked}=…: there is no field {asked!r}; there are {', '.join(FIELDS)}, reference1, "
            "reference2 … and score1, score2 …."
        )
    return name


def _columns(header: _Header, field: str, theirs: str) -> Iterable[str]:
    """Several columns may be given with commas between them, unless a column has that very name."""
    if not theirs.strip():
        return ()
    if field in ONE or theirs.strip() in header.columns:
        return (theirs,)
    return [each for each in theirs.split(",") if each.strip()]


def listed(columns: Sequence[str]) -> str:
    """Names of columns for a message."""
    some = ", ".join(repr(each[:60]) for each in columns[:30])
    return f"{some} and {len(columns) - 30} more" if len(columns) > 30 else some


def _plain(name: str) -> str:
    return re.sub(r"[\s\-.]+", "_", name.strip().casefold())
