"""The requester's task page in a frame of ours: where it may come from, and what it may do there."""

from dataclasses import dataclass

from csp.constants import SELF
from django.http import HttpResponse
from django.templatetags.static import static

from marketplace import html
from marketplace.loopback import anywhere
from marketplace.questions import ExternalQuestion, HTMLQuestion, Question

#: A task page at work. Its own origin keeps its storage; it leaves the frame only when the worker clicks.
AT_WORK = (
    "allow-scripts allow-forms allow-same-origin allow-popups allow-popups-to-escape-sandbox "
    "allow-top-navigation-by-user-activation allow-downloads"
)
#: A task page that is only looked at: everything but sending something off.
PREVIEW = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"


#: A task page that we serve: nobody's origin. Only the click that follows a submission leaves the frame;
#: the task page itself may not, by the policy it comes with (`marketplace.html`).
OURS_AT_WORK = f"{html.SANDBOX} allow-top-navigation-by-user-activation"


def frame_sources() -> dict[str, list[str]]:
    """What the policy of a page with a requester's own page in a frame allows beside its own."""
    return {"frame-src": [SELF, *anywhere()]}


def sandbox(question: Question, *, working: bool) -> str:
    """What the frame of a task page allows."""
    if isinstance(question, ExternalQuestion):
        return AT_WORK if working else PREVIEW
    return OURS_AT_WORK if working else html.SANDBOX


#: What the page of a QuestionForm loads (`templates/marketplace/frame/form.html`).
_OF_FORMS = ("html/frame.js", "questionform.css", "html/questionform.js")


@dataclass(frozen=True, slots=True)
class Preload:
    """A file of ours that the frame is going to ask for, and what it is."""

    address: str
    kind: str


def preloads(question: Question) -> list[Preload]:
    """What the page around the frame fetches early, so that the frame has it when it asks."""
    if isinstance(question, ExternalQuestion):
        return []
    files = html.files_of(question.html) if isinstance(question, HTMLQuestion) else _OF_FORMS
    return [Preload(static(name), "style" if name.endswith(".css") else "script") for name in files]


def with_task(response: HttpResponse, question: Question, *, origin: str) -> HttpResponse:
    """A page with a task frame; one whose task we serve can be led nowhere else, whatever its script does."""
    ours = [f"{origin}/s/", f"{origin}/p/"]
    sources = frame_sources() if isinstance(question, ExternalQuestion) else {"frame-src": ours}
    response._csp_update = sources  # type: ignore[attr-defined]  # as csp.decorators.csp_update does
    return response
