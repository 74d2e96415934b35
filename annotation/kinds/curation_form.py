"""The curation form: its fields, and how it is read.

`passage_RANK` is ticked for a chosen passage and `none` where none can answer. `highlight_RANK` has exact
words of the passage, a stretch in each line. `conflict_N_a`, `_b` and `_trusted` name a conflicting pair.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.quotes import quoted
from annotation.rules.highlights import LONGEST, locate
from annotation.selectors.candidates import ShownCandidate

NONE = "none"
#: A choice of the lists that says nothing; a list always has a value.
NOTHING = "-"
#: Pairs of conflicting passages that a form has room for.
PAIRS = 3
_MOST_HIGHLIGHTS = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What the stage allows."""

    most_passages: int
    highlights: bool


class _Reader:
    """Reads one form; `errors` has words for the worker by field."""

    def __init__(self, candidates: Sequence[ShownCandidate], form: Mapping[str, str], limits: Limits) -> None:
        self.errors: dict[str, str] = {}
        self._candidates, self._form, self._limits = candidates, form, limits
        self._by_rank = {str(candidate.rank): candidate for candidate in candidates}

    def read(self) -> dict[str, Any]:
        chosen = self._chosen()
        conflicts = list(self._conflicts({candidate.key for candidate in chosen}))
        highlights = list(self._highlights(chosen)) if self._limits.highlights else []
        return {
            "answerable": bool(chosen),
            "passages": sorted(candidate.key for candidate in chosen),
            "conflicts": conflicts,
            "highlights": highlights,
        }

    def _chosen(self) -> list[ShownCandidate]:
        chosen = [each for each in self._candidates if self._form.get(f"passage_{each.rank}")]
        none, most = bool(self._form.get(NONE)), self._limits.most_passages
        if not chosen and not none:
            self.errors["passages"] = (
                "Choose the passages that answer the query, or say that none of these can answer it."
            )
        elif chosen and none:
            self.errors["passages"] = (
                "You chose passages, and also said that none of these can answer it. Take one of them back."
            )
        elif len(chosen) > most:
            self.errors["passages"] = (
                f"Choose at most {most}; you chose {len(chosen)}. Keep those without which the answer would "
                "not be complete."
            )
        return chosen

    def _conflicts(self, chosen: set[str]) -> Iterator[dict[str, str | None]]:
        seen: set[frozenset[str]] = set()
        for number in range(1, PAIRS + 1):
            name = f"conflict_{number}"
            said = {part: self._form.get(f"{name}_{part}", NOTHING) for part in ("a", "b", "trusted")}
            if said["a"] not in self._by_rank and said["b"] not in self._by_rank:
                continue
            if said["a"] not in self._by_rank or said["b"] not in self._by_rank:
                self.errors[name] = "Name both passages of this pair, or neither."
                continue
            if said["a"] == said["b"]:
                self.errors[name] = "A passage cannot conflict with itself; name two different ones."
                continue
            pair = {part: self._by_rank[said[part]] for part in ("a", "b")}
            keys = frozenset(each.key for each in pair.values())
            if keys <= chosen:
                self.errors[name] = (
                    f"You chose passages {said['a']} and {said['b']}, and say that they contradict each "
                    "other. Keep the one that you trust more."
                )
            if keys in seen:
                continue
            seen.add(keys)
            first, second = sorted(pair.values(), key=lambda each: each.rank)
            trusted = pair[said["trusted"]].key if said["trusted"] in pair else None
            yield {"a": first.key, "b": second.key, "trusted": trusted}

    def _highlights(self, chosen: Sequence[ShownCandidate]) -> Iterator[dict[str, str | int]]:
        for candidate in chosen:
            name = f"highlight_{candidate.rank}"
            lines = [line for line in self._form.get(name, "").splitlines() if line.strip()]
            if len(lines) > _MOST_HIGHLIGHTS:
                self.errors[name] = f"Mark at most {_MOST_HIGHLIGHTS} places in passage {candidate.rank}."
                continue
            for start, end in self._spans(name, candidate, lines):
                yield {"passage": candidate.key, "start": start, "end": end}

    def _spans(self, name: str, candidate: ShownCandidate, lines: Sequence[str]) -> list[tuple[int, int]]:
        spans = set()
        for line in lines:
            span = locate(candidate.text, line)
            if span is None:
                self.errors[name] = (
                    f"These words are more than {LONGEST:,} characters; mark the few that matter."
                    if len(line) > LONGEST
                    else f"{quoted(line)} does not stand in passage {candidate.rank} like this. Copy its "
                    "exact words."
                )
            else:
                spans.add(span)
        return sorted(spans)


def read_form(
    candidates: Sequence[ShownCandidate], form: Mapping[str, str], limits: Limits
) -> tuple[dict[str, Any], dict[str, str]]:
    """The response and the errors in a form about these candidates; the response counts without errors.

    Words that are marked in a passage that was not chosen are left out: they carry no answer.
    """
    reader = _Reader(candidates, form, limits)
    return reader.read(), reader.errors
