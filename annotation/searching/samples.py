"""A sample conversation to try the search page with: one of the project's own, or one about the textbooks."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Query, QuerySource
from annotation.searching.conversation import MOST_TURNS, Conversation, RefusedError
from annotation.services.query_from_search import FORMAT
from core.projects.models import Project

#: Our own questions about the passages in `annotation/sample` (CC0), for a corpus that is called so.
TEXTBOOKS = "textbooks"
ABOUT_TEXTBOOKS = (
    "What is a monopoly?",
    "How does it differ from an oligopoly?",
    "Why do firms there cooperate?",
    "What is game theory used for?",
    "And what does the prisoner's dilemma show?",
)
_LONGEST_KNOWN = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """Questions, oldest first, and the address that answers them all."""

    questions: Sequence[str]
    address: str


def sample_for(project: Project, corpora: Sequence[str], now: Conversation) -> Sample | None:
    """The longest imported conversation of the project, else the shipped one if it fits its corpora.

    It is asked with the corpora and the options of the page as it is `now`.
    """
    questions = _of_project(project) or (ABOUT_TEXTBOOKS if TEXTBOOKS in corpora else ())
    conversation = now.cleared()
    try:
        for question in questions:
            conversation = conversation.with_question(question, now.options)
    except RefusedError:
        return None
    if not questions or not conversation.fits_an_address:
        return None
    return Sample(conversation.questions, conversation.address())


def _of_project(project: Project) -> list[str]:
    """The turns of one conversation, five at most, so that the page stays readable."""
    found = (
        Query.objects.filter(project=project, source__state=QuerySource.State.READY, turn__gte=2)
        .exclude(source__format=FORMAT)
        .order_by("-turn", "pk")
        .values_list("text", "context")
        .first()
    )
    if found is None:
        return []
    text, context = found
    before = [str(turn.get("text", "")) for turn in context if isinstance(turn, dict)]
    turns = [each for each in [*before, text] if each.strip()]
    return turns[: min(_LONGEST_KNOWN, MOST_TURNS)]
