"""The free texts that a release could hold, whatever is brought in.

Findings and redactions know them by subject and field: `answer:17` and `text`; `candidate:8` and `text`;
`query:3` and `text`, `context.0.text`, `context.0.answer` or `references.1`. Passages are copies of
published pages and are not searched; judges' comments are in no release.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS

from annotation.models import Answer
from annotation.selectors.answers import GIVEN
from core.projects.models import Project
from judgments.models import Candidate
from judgments.selectors.candidates import OUT
from judgments.selectors.references import imported
from releases.groups import OPTIONAL
from releases.rows.acceptance import released

#: Texts of one batch.
AT_ONCE = 5_000


class Text(NamedTuple):
    """One text with its name."""

    subject: str
    field: str
    text: str


def batches(project: Project) -> Iterator[list[Text]]:
    """All texts, some thousands at a time: queries, then answers of people, then those of systems."""
    for rows in (_queries(project), _answers(project), _candidates(project)):
        batch: list[Text] = []
        for each in rows:
            batch.append(each)
            if len(batch) >= AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch


def count(project: Project) -> int:
    """About how many there are, for progress: a query counts once."""
    return (
        released(project, DEFAULT_DB_ALIAS, OPTIONAL).count()
        + Answer.objects.filter(GIVEN, query__project=project).count()
        + Candidate.objects.filter(system__project=project).count()
    )


def _queries(project: Project) -> Iterator[Text]:
    rows = (
        released(project, DEFAULT_DB_ALIAS, OPTIONAL)
        .order_by("pk")
        .values_list("pk", "text", "context", "references")
    )
    for pk, text, context, references in rows.iterator(AT_ONCE):
        subject = f"query:{pk}"
        yield Text(subject, "text", text)
        for place, turn in enumerate(_listed(context)):
            if isinstance(turn, dict):
                for name in ("text", "answer"):
                    if isinstance(turn.get(name), str):
                        yield Text(subject, f"context.{place}.{name}", turn[name])
        for place, each in enumerate(imported(references)):
            yield Text(subject, f"references.{place}", each)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _answers(project: Project) -> Iterator[Text]:
    rows = Answer.objects.filter(GIVEN, query__project=project).exclude(query__status__in=OUT)
    for pk, text in rows.order_by("pk").values_list("pk", "text").iterator(AT_ONCE):
        yield Text(f"answer:{pk}", "text", text)


def _candidates(project: Project) -> Iterator[Text]:
    rows = Candidate.objects.filter(system__project=project).exclude(query__status__in=OUT)
    for pk, text in rows.order_by("pk").values_list("pk", "text").iterator(AT_ONCE):
        yield Text(f"candidate:{pk}", "text", text)
