"""Reviewing: answers and what a reviewer decides about them; queries on which editors were of two minds."""

from collections.abc import Callable, Mapping

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from annotation.desk.columns import ANSWERS, UNDECIDED, WRITERS, links_of_query
from annotation.flags import FLAGS, FlaggedAnswer
from annotation.likeness import pairs
from annotation.models import Answer, AnswerReview, Doubt, HeldOutWorker, Query
from annotation.selectors import curation as selectors
from annotation.selectors import review
from annotation.selectors.answers import material
from annotation.selectors.curation import doubts_about
from annotation.selectors.review import Lengths, lengths, overlap, stage_spread, texts_of
from annotation.services import review_decisions
from annotation.services.curation import accept_query, curate_query, declare_unanswerable, exclude_query
from annotation.services.queries import accept_by_hand, exclude_by_hand
from annotation.services.steps import ask_again, keep_decision, leave_out
from annotation.writing_config import WRITING_KINDS, distillation_config
from core.errors import ActionError
from crowd.access import StageAccess, on_stage
from crowd.desk.forms import Form
from crowd.models import Worker
from crowd.selectors.queues import queue_named
from web.access import ProjectAccess, Role, on_project
from web.cells import Link, short, with_undo
from web.forms import (
    MOST_MATCHING,
    FormError,
    chosen_keys,
    is_confirmed,
    matching_keys,
    read_form,
    run_action,
)
from web.kit import Button, Empty, FormSection, Listing, Note, Page, Ticks
from web.pages import confirm_all, show, show_table
from web.tables import ROWS, page_of

# Small forms of the review pages.


class HoldOutForm(Form):
    """How many people of each query are set aside, and by which seed."""

    people = forms.IntegerField(
        label="People per query",
        min_value=1,
        max_value=1000,
        help_text="Of queries that have all their answers and none held out yet.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="The same seed draws the same people.",
    )


#: Pairs of answers at least so alike stand in the table of a query, the likest first.
_ALIKE = 0.6
_MOST_PAIRS = 12


def writing_only(access: StageAccess) -> None:
    """Other kinds of stages have no answers."""
    if access.stage.kind not in WRITING_KINDS:
        raise Http404("Only stages in which people write have answers.")


def distillation_only(access: StageAccess) -> None:
    """Only answers to a query can be references or held out; continuations are candidates."""
    if access.stage.kind != "distillation":
        raise Http404("Only stages of distillation have answers to hold out.")


def query_of_stage(access: StageAccess, pk: int) -> Query:
    """A query of the project; those of other projects do not exist here."""
    writing_only(access)
    row: Query = get_object_or_404(Query, project=access.project, pk=pk)
    return row


@require_safe
@on_stage()
def listing(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Queries with how many answers they have, are flagged, and wait for a decision."""
    writing_only(access)

    def with_figures(page_queries: list[Query]) -> list[tuple[Query, Lengths | None, float | None]]:
        texts = texts_of(access.stage, [query.pk for query in page_queries])
        figures = {
            pk: (lengths([len(text) for text in answer_texts]), overlap(answer_texts))
            for pk, answer_texts in texts.items()
        }
        return [(query, *figures.get(query.pk, (None, None))) for query in page_queries]

    return show_table(
        request,
        access,
        ANSWERS,
        lambda grid: review.queries(access.stage, grid["state"]),
        _describe_listing(request, access),
        complete=with_figures,
        file=f"{access.stage.slug}-answers",
        tab="answers",
    )


_NO_ANSWER = Empty(
    "No answers yet",
    (
        "Answers appear here as soon as workers send them; the checks look at them in the next round. ",
        Link("Queries that wait for answers", "?state=incomplete"),
    ),
)
_ALL_REVIEWED = Empty("Nothing here", ("Every answer is decided. ", Link("Show all queries", "?state=all")))
_NO_QUERY = Empty("Nothing here", ("No query is in this state. ", Link("Show all queries", "?state=all")))


def _describe_listing(request: HttpRequest, access: StageAccess) -> Page:
    ticks = Ticks(
        "chosen",
        lambda row: row[0].pk if row[0].undecided else None,
        lambda row: f"“{short(row[0].text, 60)}”",
        f"{access.address('annotation:approve_chosen_unflagged')}?{request.GET.urlencode()}",
        [Button("Approve their answers without flags", plain=True)],
        note="Answers with flags keep waiting for you.",
        most=MOST_MATCHING,
    )
    listing = Listing(
        "Which queries to show",
        "query",
        "queries",
        _ALL_REVIEWED if Answer.objects.filter(stage=access.stage).exists() else _NO_ANSWER,
        _NO_QUERY,
        ticks=ticks if access.manages else None,
        note="To review and flagged count undecided answers. The overlap is the mean share of words that two "
        "answers have in common.",
    )
    by_writer = Link("By writer", access.address("annotation:answer_writers"), plain=True)
    spread_page = Link("Lengths and overlap", access.address("annotation:spread_of_answers"), plain=True)
    return Page("Answers", [listing, _describe_holdout(access)], primary=[by_writer, spread_page])


def _describe_holdout(access: StageAccess) -> Note | FormSection:
    """How many people are held out, and the form that holds more out."""
    stage = access.stage
    if stage.kind != "distillation":
        return Note(
            "Continuations are no references: those that count become candidates of the system human when a "
            "judging stage of the project is opened, or on the page of systems."
        )
    count = HeldOutWorker.objects.filter(query__project=access.project).values("query").distinct().count()
    queries = f"{count} {'query' if count == 1 else 'queries'}"
    which = f"Answers to {queries} of this project are" if count else "Answers can be"
    lead = (
        f"{which} held out: they are no references but candidates of the system human, judged like any "
        "other: what people reach."
    )
    if not access.manages:
        return Note(lead)
    people = distillation_config(stage).hold_out or 1
    return FormSection(
        HoldOutForm(initial={"people": people, "seed": stage.seed}),
        [Button("Draw", plain=True)],
        access.address("annotation:draw_holdout"),
        lead=lead,
        folded="Hold people out",
    )


@require_safe
@on_stage()
def query(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """One query: its passages, and all answers side by side."""
    row = query_of_stage(access, pk)
    answers = review.of_query(access.stage, row)
    sources = material(row.pk)
    parts = review.mark_shared_runs(answers, [passage.text for passage in sources.passages])
    numbers = {shown_answer.answer.pk: shown_answer.number for shown_answer in answers}
    written = [
        FlaggedAnswer(shown_answer.answer.pk, shown_answer.answer.worker_id, shown_answer.answer.text)
        for shown_answer in answers
        if shown_answer.answer.state != Answer.State.EXCLUDED
    ]
    before, after = review.neighbours(access.stage, row)
    return show(
        request,
        "review_query.html",
        access,
        folder="annotation",
        tab="answers",
        query=row,
        material=sources,
        passages=list(zip(sources.passages, parts, strict=True)),
        shares=any(piece.shared for each in parts for piece in each),
        answers=answers,
        numbers=numbers,
        unflagged=sum(
            not shown_answer.flags
            and shown_answer.answer.state == Answer.State.UNDECIDED
            and shown_answer.answer.checked_at is not None
            for shown_answer in answers
        ),
        pairs=[
            (numbers[pair.a], numbers[pair.b], pair) for pair in pairs(written, least=_ALIKE)[:_MOST_PAIRS]
        ],
        lengths=lengths([len(answer.text) for answer in written]),
        overlap=overlap([answer.text for answer in written]),
        opinions=_opinions(answers) if row.yes_no else [],
        before=before,
        after=after,
        beside=links_of_query(access.project, row),
    )


def _opinions(answers: list[review.ShownAnswer]) -> list[tuple[str, int]]:
    opinions = [
        shown_answer.answer.opinion for shown_answer in answers if shown_answer.answer.state in Answer.COUNTED
    ]
    return [(str(label), opinions.count(value)) for value, label in Answer.Opinion.choices]


@require_safe
@on_stage()
def writers(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Who wrote answers, those with most flags first unless the address says otherwise."""
    writing_only(access)
    return show_table(
        request,
        access,
        WRITERS,
        lambda grid: review.writers(access.stage, grid["q"]),
        Page(
            "Who wrote answers",
            [Listing("Find a writer", "writer", "writers", _NO_WRITER)],
            lead=Link("By query", access.address("annotation:answers")),
        ),
        file=f"{access.stage.slug}-writers",
        tab="answers",
    )


_NO_WRITER = Empty(
    "None yet", "Workers appear here as soon as they send an answer, with how many of theirs have flags."
)


@require_safe
@on_stage()
def writer(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """All answers of one person."""
    writing_only(access)
    worker = get_object_or_404(Worker.objects.filter(answers__stage=access.stage).distinct(), pk=pk)
    rows = page_of(review.of_worker(access.stage, worker), request)
    answers = review.answers(Answer.objects.filter(pk__in=[row.pk for row in rows]).order_by("-pk"))
    return show(
        request,
        "review_worker.html",
        access,
        folder="annotation",
        tab="answers",
        worker=worker,
        rows=rows,
        answers=answers,
    )


@require_safe
@on_stage()
def spread(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Lengths and overlap over the stage, and what every flag means."""
    writing_only(access)
    return show(
        request,
        "review_spread.html",
        access,
        folder="annotation",
        tab="answers",
        spread=stage_spread(access.stage),
        flags=FLAGS.values(),
    )


# What reviewers do with answers: each a form that is posted, and back to where one was.

QUERY = "annotation:answers_of_query"
Decide = Callable[[Answer, str, str], tuple[AnswerReview, str]]
#: Decisions of one form that are undone together.
_MOST_UNDONE = 2000


def _answer(access: StageAccess, pk: int) -> Answer:
    writing_only(access)
    answer: Answer = get_object_or_404(
        Answer.objects.select_related("stage__project", "stage__endpoint", "worker", "query"),
        stage=access.stage,
        pk=pk,
    )
    return answer


def _act(request: HttpRequest, access: StageAccess, pk: int, decide: Decide) -> HttpResponse:
    """Decide, and go back to the answer; or to the next undecided one after it."""
    answer = _answer(access, pk)
    seen, reason = request.POST.get("seen", ""), request.POST.get("reason", "")[:2000].replace("\0", "")

    here = _place(request, access, answer)
    try:
        made, sentence = decide(answer, seen, reason)
    except ActionError as error:
        messages.error(request, str(error))
        return redirect(here)
    if seen == Answer.State.UNDECIDED:
        sentence = with_undo(request, sentence, _undo_address(request, access), review=f"{pk}-{made.pk}")
    messages.success(request, sentence)
    is_open = answer.state == Answer.State.UNDECIDED
    return redirect(here) if is_open else _next_answer(request, access, answer) or redirect(here)


def _by_writer(request: HttpRequest) -> bool:
    """Whether one goes through the answers of one person."""
    return request.GET.get("by") == "writer"


def _place(request: HttpRequest, access: StageAccess, answer: Answer) -> str:
    """The answer on the page of its query, or on that of its writer, the newest first."""
    if _by_writer(request):
        newer = Answer.objects.filter(stage=access.stage, worker=answer.worker_id, pk__gt=answer.pk).count()
        page = f"{access.address('annotation:answers_of_worker', answer.worker_id)}?page={newer // ROWS + 1}"
    else:
        page = access.address(QUERY, answer.query_id) + _queue(request)
    return f"{page}#answer-{answer.pk}"


def _next_answer(request: HttpRequest, access: StageAccess, answer: Answer) -> HttpResponse | None:
    """On to the next undecided answer: on the page, in the queue, of the stage from here on; None: none."""
    undecided = Answer.objects.filter(stage=access.stage, state=Answer.State.UNDECIDED)
    if _by_writer(request):
        following = undecided.filter(worker=answer.worker_id, pk__lt=answer.pk).order_by("-pk").first()
    else:
        following = undecided.filter(query=answer.query_id, pk__gt=answer.pk).order_by("pk").first()
    if following:
        return redirect(_place(request, access, following))
    if _by_writer(request):
        return None
    if onward := _onward(request, access):
        return onward
    elsewhere = undecided.exclude(query=answer.query_id).order_by("query").values_list("query", flat=True)
    query_id = elsewhere.filter(query__gt=answer.query_id).first() or elsewhere.first()
    return redirect(access.address(QUERY, query_id)) if query_id else None


def _queue(request: HttpRequest) -> str:
    """The queue from which a query was opened, to be kept in addresses."""
    name = request.GET.get("queue", "")
    return f"?queue={name}" if queue_named(name) else ""


def _undo_address(request: HttpRequest, access: StageAccess) -> str:
    parameters = request.GET.urlencode()
    address = access.address("annotation:undo_review")
    return f"{address}?{parameters}" if parameters else address


def _onward(request: HttpRequest, access: StageAccess) -> HttpResponse | None:
    """On to the next in the queue from which the query was opened."""
    queue = queue_named(request.GET.get("queue", ""))
    return redirect("desk:queue", access.project.slug, queue.name) if queue else None


@require_POST
@on_stage(Role.MANAGER)
def approve(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Accept an answer as a reference; refused where it changed after the page was opened."""

    def decide(answer: Answer, seen: str, _: str) -> tuple[AnswerReview, str]:
        return review_decisions.approve(answer=answer, actor=access.user, seen=seen, hold=True), "Approved."

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def ask_rewrite(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Ask its author to write it again."""

    def decide(answer: Answer, seen: str, reason: str) -> tuple[AnswerReview, str]:
        made = review_decisions.ask_rewrite(
            answer=answer, actor=access.user, seen=seen, reason=reason, hold=True
        )
        return made, "Its author is asked to write it again."

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def exclude(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Exclude, with a reason."""

    def decide(answer: Answer, seen: str, reason: str) -> tuple[AnswerReview, str]:
        rejecting = request.POST.get("work") == "reject"
        made = review_decisions.exclude(
            answer=answer, actor=access.user, seen=seen, reason=reason, reject_work=rejecting, hold=True
        )
        sentence = "Excluded, and its work is being rejected." if rejecting else "Excluded. Its work is paid."
        return made, sentence

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def reopen(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Take a decision back."""

    def decide(answer: Answer, seen: str, _: str) -> tuple[AnswerReview, str]:
        made = review_decisions.reopen(answer=answer, actor=access.user, seen=seen)
        return made, "The decision is taken back."

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def undo(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Undo decisions of a moment ago, the last first; back to the first of their answers."""
    writing_only(access)
    pairs = [chosen_keys(pair.split("-", 1)) for pair in request.POST.get("review", "").split()]
    keys = {pair[0]: pair[1] for pair in pairs[:_MOST_UNDONE] if len(pair) == 2}
    rows = Answer.objects.select_related("stage__project", "stage__endpoint", "worker", "query")
    answers = list(rows.filter(stage=access.stage, pk__in=keys))
    if not answers:
        messages.error(request, "There are no such decisions; nothing is undone.")
        return redirect(access.address("annotation:answers"))
    answers.sort(key=lambda answer: -keys[answer.pk])

    def action() -> str:
        undone, refusal = 0, ""
        for answer in answers:
            try:
                review_decisions.undo(answer=answer, review=keys[answer.pk], actor=access.user)
                undone += 1
            except review_decisions.ReviewError as error:
                refusal = str(error)
        if not undone:
            raise FormError(refusal)
        done = "Undone." if undone == 1 else f"{undone} decisions are undone."
        return f"{done} {len(answers) - undone} stay: {refusal}" if refusal else done

    first = answers[-1]
    return run_action(request, action, _place(request, access, first))


@require_POST
@on_stage(Role.MANAGER)
def add_note(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Keep a note on an answer."""
    answer = _answer(access, pk)

    def action() -> str:
        text = request.POST.get("note", "").replace("\0", "")
        review_decisions.add_note(answer=answer, author=access.user, text=text)
        return "The note is saved."

    return run_action(request, action, _place(request, access, answer))


@require_POST
@on_stage(Role.MANAGER)
def approve_unflagged(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Approve every answer to a query that nothing was noticed about."""
    query = query_of_stage(access, pk)

    def action() -> str:
        reviews = review_decisions.approve_unflagged(
            stage=access.stage, query=query, actor=access.user, hold=True
        )
        return _say_approved(request, access, reviews)

    answer = run_action(request, action, access.address(QUERY, pk) + _queue(request))
    left = Answer.objects.filter(stage=access.stage, query=query, state=Answer.State.UNDECIDED)
    return answer if left.exists() else _onward(request, access) or answer


@require_POST
@on_stage(Role.MANAGER)
def approve_chosen_unflagged(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Approve every answer to the chosen queries that nothing was noticed about."""
    writing_only(access)
    filters = request.GET.urlencode()
    address = access.address("annotation:answers") + (f"?{filters}" if filters else "")
    try:
        keys = chosen_keys(request.POST.getlist("chosen"))
        if "every" in request.POST:
            rows = review.queries(access.stage, ANSWERS.read_request(request.GET)["state"])
            keys = matching_keys(request.POST, rows.filter(undecided__gt=0))
            if not is_confirmed(request.POST):
                question = f"Approve answers to {len(keys):,} {'query' if len(keys) == 1 else 'queries'}?"
                note = (
                    "All undecided answers without flags to queries that match the filter. It can be undone "
                    f"for {review_decisions.UNDO_S} seconds; then work of which all is decided is paid."
                )
                return confirm_all(
                    request,
                    access,
                    count=len(keys),
                    question=question,
                    note=note,
                    back=address,
                    tab="answers",
                )
        if not keys:
            raise FormError("Nothing is chosen. Tick the queries first.")
        reviews: dict[int, int] = {}
        for query in Query.objects.filter(project=access.project, pk__in=keys[:MOST_MATCHING]).order_by("pk"):
            reviews |= review_decisions.approve_unflagged(
                stage=access.stage, query=query, actor=access.user, hold=True
            )
    except ActionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _say_approved(request, access, reviews))
    return redirect(address)


def _say_approved(request: HttpRequest, access: StageAccess, reviews: Mapping[int, int]) -> str:
    """How many answers were approved at once, with the button that undoes it."""
    count = len(reviews)
    if not count:
        return "No answer is approved: those that wait have flags, or were not checked yet."
    sentence = "One answer is approved." if count == 1 else f"{count:,} answers are approved."
    if count > _MOST_UNDONE:
        return sentence
    pairs = " ".join(f"{answer}-{made}" for answer, made in reviews.items())
    return with_undo(request, sentence, _undo_address(request, access), review=pairs)


@require_POST
@on_stage(Role.MANAGER)
def draw_holdout(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Hold people out of every query that is complete."""
    distillation_only(access)

    def action() -> str:
        fields = read_form(HoldOutForm(request.POST))
        counts = review_decisions.draw(
            project=access.project, people=fields["people"], seed=fields["seed"], actor=access.user
        )
        few = f" Too few answers: {counts.too_few:,}." if counts.too_few else ""
        return f"Drawn for {counts.queries} {'query' if counts.queries == 1 else 'queries'}.{few}"

    return run_action(request, action, "annotation:answers", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def hold_out(request: HttpRequest, access: StageAccess, *, pk: int, worker: int) -> HttpResponse:
    """Hold one person's answer to a query out."""
    distillation_only(access)
    query = query_of_stage(access, pk)

    def action() -> str:
        review_decisions.hold_out(query=query, worker=_writer(access, worker), actor=access.user)
        return "Held out: this answer is a candidate of the system human."

    return run_action(request, action, QUERY, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER)
def take_back(request: HttpRequest, access: StageAccess, *, pk: int, worker: int) -> HttpResponse:
    """Make a held-out answer a reference again."""
    distillation_only(access)
    query = query_of_stage(access, pk)

    def action() -> str:
        review_decisions.take_back(
            query=query, worker=_writer(access, worker), stage=access.stage, actor=access.user
        )
        return "This answer is a reference again."

    return run_action(request, action, QUERY, access.project.slug, access.stage.slug, pk)


def _writer(access: StageAccess, pk: int) -> Worker:
    worker: Worker = get_object_or_404(Worker.objects.filter(answers__stage=access.stage).distinct(), pk=pk)
    return worker


class AdjudicationForm(Form):
    """Why, in the researcher's words."""

    reason = forms.CharField(max_length=300, required=False, label="Reason")


_ALL_DECIDED = Empty(
    "Nothing waits for you",
    "Queries come here when the votes of a screening stage are a tie, when one flag excluded them against a "
    "majority, when editors of a curation stage cannot agree on passages, or when the work that decided "
    "them no longer counts.",
)


@require_safe
@on_project()
def adjudication_queue(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """Queries that are tied, disputed, excluded by one flag, or decided on work that no longer counts."""
    return show_table(
        request,
        access,
        UNDECIDED,
        lambda grid: selectors.undecided_queries(access.project, grid["state"]),
        Page(
            "Adjudication",
            [Listing("Which queries to show", "query", "queries", _ALL_DECIDED)],
            lead="The rules leave these to a person. Your decision stays with the query, with your name "
            "and reason.",
        ),
        file=f"{access.project.slug}-undecided",
        tab="adjudication",
    )


@require_safe
@on_project()
def case_page(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """One query with everything that was said about it, and the forms that decide."""
    row = _query(access, query)
    return show(
        request,
        "adjudication_case.html",
        access,
        folder="annotation",
        tab="adjudication",
        query=row,
        waits=selectors.waits_for_us(row),
        doubted=doubts_about(row),
        votes=selectors.votes_on(row),
        weighing=selectors.selections_on(row),
    )


@require_safe
@on_project()
def next_case(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """On to the next undecided query, or back to the list where none is left."""
    next_query = selectors.next_undecided(access.project, query)
    if next_query is None:
        return redirect("annotation:adjudication", access.project.slug)
    return redirect("annotation:case", access.project.slug, next_query)


@require_POST
@on_project(Role.MANAGER)
def accept_case(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Accept a query that is tied, or that one flag excluded."""

    def action(row: Query, reason: str) -> str:
        accepting = accept_by_hand if row.status == Query.Status.EXCLUDED else accept_query
        accepting(query=row, actor=access.user, reason=reason)
        return "Accepted."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def exclude_case(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Exclude a query that is tied, or leave out one that one flag excluded."""

    def action(row: Query, reason: str) -> str:
        excluding = exclude_by_hand if row.status == Query.Status.EXCLUDED else exclude_query
        excluding(query=row, actor=access.user, reason=reason)
        return "Excluded."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def curate_case(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Choose the passages of a disputed query."""
    candidate_ids = chosen_keys(request.POST.getlist("passage"))

    def action(row: Query, reason: str) -> str:
        curate_query(query=row, actor=access.user, candidates=candidate_ids, reason=reason)
        return "Curated with the passages that you chose."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def unanswerable_case(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Say that a disputed query cannot be answered."""

    def action(row: Query, reason: str) -> str:
        declare_unanswerable(query=row, actor=access.user, reason=reason)
        return "Taken out: its passages cannot answer it."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def settle_doubt(request: HttpRequest, access: ProjectAccess, *, query: int, doubt: int) -> HttpResponse:
    """Say what becomes of a decision whose work no longer counts."""
    row = get_object_or_404(
        Doubt.objects.select_related("stage"), query=query, query__project=access.project, pk=doubt
    )

    def action(_: Query, reason: str) -> str:
        try:
            settle, sentence = _SETTLED[request.POST.get("decision", "")]
        except KeyError:
            raise FormError("Choose what becomes of the decision.") from None
        settle(doubt=row, actor=access.user, reason=reason)
        return sentence

    return _decided(request, access, query, action)


_SETTLED: dict[str, tuple[Callable[..., None], str]] = {
    "keep": (keep_decision, "The decision stays."),
    "again": (ask_again, "People are asked again."),
    "out": (leave_out, "The query is left out."),
}


def _decided(
    request: HttpRequest, access: ProjectAccess, query: int, action: Callable[[Query, str], str]
) -> HttpResponse:
    """Decide, then go on to the next query; back to this one where something was wrong."""
    row = _query(access, query)

    def decide() -> str:
        form = AdjudicationForm(request.POST)
        if not form.is_valid():
            raise FormError("The reason is longer than 300 characters, or cannot be stored.")
        return action(row, form.cleaned_data["reason"])

    return run_action(
        request, decide, "annotation:following", access.project.slug, row.pk, other="annotation:case"
    )


def _query(access: ProjectAccess, pk: int) -> Query:
    row: Query = get_object_or_404(Query.objects.select_related("project"), project=access.project, pk=pk)
    return row
