"""Pages of people who come by a link. They work without cookies: what a page knows is signed in its address.

No page needs the session or Django's CSRF token: every form carries the signed state of its visit, which
another site cannot know.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from urllib.parse import urlsplit

from csp.constants import SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from core.accounts import security
from core.accounts.security import client_address, neighbourhood
from core.errors import ActionError
from core.rates import limits
from people import consents, tokens, visits
from people.errors import JoinError, LinkClosedError
from people.models import ConsentText, Outcome, RosterRow, StudyLink, Visit
from people.owners import columns_of, kind_of, target_of
from people.visits import ArrivalFacts, withdraw_guest
from web.languages import wanted_languages

STATE, _COOKIE, _COOKIE_S = "v", "visit", 90 * 86_400
#: Wrong code words and codes from one network: so many at once, then one in ten seconds.
_WRONG_BURST, _WRONG_RATE = 30, 0.1
#: Wrong tokens, which nobody can guess: enough for a class that was sent half an address.
TOKENS_RATE, TOKENS_BURST = 0.5, 300
_MOST_PAIRS = 50
View = Callable[..., HttpResponse]
#: What the page at the end says.
ENDS = {
    Outcome.COMPLETED: (gettext_lazy("Done"), gettext_lazy("You have done everything. Thank you.")),
    Outcome.SCREENED_OUT: (
        gettext_lazy("This study is not for you"),
        gettext_lazy("Thank you for coming. You were not among the people it needs."),
    ),
    Outcome.FAILED_CHECKS: (
        gettext_lazy("This study ends here for you"),
        gettext_lazy("Some answers to control questions were not right."),
    ),
    Outcome.NO_CONSENT: (
        gettext_lazy("You did not agree"),
        gettext_lazy("Nothing was kept of you. Thank you for looking."),
    ),
    Outcome.NOTHING_LEFT: (
        gettext_lazy("Nothing left to do"),
        gettext_lazy("Others have done all tasks, or the study has not begun. Thank you."),
    ),
    Outcome.WITHDRAWN: (
        gettext_lazy("You withdrew"),
        gettext_lazy("The researchers are told not to publish your answers any more."),
    ),
}

#: What it says to those who are done while work is left.
WORK_FOR_OTHERS = gettext_lazy(
    "You have done all that you may do here. Some work is left, but it needs other people. Thank you."
)


def _join_page(view: View) -> View:
    """The view gets the link of the token; what cannot be is said on a page in one sentence."""

    @csrf_exempt
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, token: str, **parts: Any) -> HttpResponse:
        network = neighbourhood(client_address(request))
        counter = f"join:{network}"
        try:
            try:
                link = visits.link_by_token(token)
            except JoinError as error:
                # Only wrong ones are counted: tokens cannot be guessed, and a class shares one network.
                if limits().take(counter, rate=TOKENS_RATE, burst=TOKENS_BURST):
                    sentence = gettext("Too many wrong addresses came from your network. Wait a minute.")
                    raise JoinError(sentence, status=429) from error
                security.log("link.unknown", path=request.path[:12])
                raise
            return view(request, link, **parts)
        except LinkClosedError as error:
            return _too_late(request, link, error)
        except ActionError as error:
            status = error.status if isinstance(error, JoinError) else 409
            return _show(request, "sentence.html", status=status, sentence=str(error))

    return guarded


def _too_late(request: HttpRequest, link: StudyLink, refusal: LinkClosedError) -> HttpResponse:
    """The ending of those who find no place, and the way on for those who joined on another device."""
    visit_state = _state(request, link)
    visit = visits.visit_too_late(link, _facts(request, link))
    if visit_state is not None:  # who read the text while the last place was taken
        visit.external_id, visit.session, visit.parameters = (
            visit_state[0].external_id,
            visit_state[0].session,
            visit_state[0].parameters,
        )
    return _show(
        request,
        "end.html",
        status=refusal.status,
        link=link,
        visit=visit,
        heading=gettext("No place is left"),
        sentence=str(refusal),
        back=visits.return_address(visit),
        token=_token(request),
        closed=True,
    )


def _show(request: HttpRequest, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    @csp_replace({"form-action": [SELF, *_own_origins()]})
    def page(request: HttpRequest) -> HttpResponse:
        return render(request, f"people/{template}", context, status=status)

    return cast(HttpResponse, page(request))


def _own_origins() -> list[str]:
    """Where forms may lead on to: task pages have the installation's own address, whatever a person typed.

    Browsers hold a form to this also behind redirects.
    """
    parts = [urlsplit(address) for address in (settings.TASK_URL, settings.PUBLIC_URL) if address]
    return list(dict.fromkeys(f"{part.scheme}://{part.netloc}" for part in parts))


def _facts(request: HttpRequest, link: StudyLink, roster: RosterRow | None = None) -> ArrivalFacts:
    pairs = [(name, str(value)) for name, values in request.GET.lists() for value in values][:_MOST_PAIRS]
    return ArrivalFacts(
        pairs=pairs,
        proven=roster is not None or tokens.check_query(link, pairs),
        address_digest=tokens.keyed_digest("people.address", neighbourhood(client_address(request)))[:40],
        browser_digest=tokens.keyed_digest("people.browser", request.headers.get("User-Agent", ""))[:40],
        roster=roster,
    )


def _state(request: HttpRequest, link: StudyLink, signed: str = "") -> tuple[Visit, bool] | None:
    """The visit that address, form or cookie say, and whether the browser is the person's own."""
    sent_state = tokens.read_visit(signed or request.POST.get(STATE) or request.GET.get(STATE, ""))
    cookie = tokens.read_visit(request.COOKIES.get(_COOKIE, ""))
    for state in (sent_state, cookie):
        if state is None:
            continue
        visit = Visit.objects.filter(pk=state.visit, link=link).select_related("guest").first()
        if visit is not None:
            visit.link = link
            # A task page that leads back knows the visit alone; its browser may be the person's own.
            is_own = state.trusted or (cookie is not None and cookie.trusted and cookie.visit == state.visit)
            return visit, is_own
    return None


def _needed_state(request: HttpRequest, link: StudyLink, signed: str = "") -> tuple[Visit, bool]:
    visit_state = _state(request, link, signed)
    if visit_state is None:
        raise JoinError(
            gettext("This page does not know who you are. Open the study again from its link."), status=400
        )
    return visit_state


def _at(name: str, token: str, visit: Visit, *, trusted: bool) -> str:
    query = urlencode({STATE: tokens.sign_visit(visit, trusted=trusted)})
    return f"{reverse(f'join:{name}', args=[token])}?{query}"


def _token(request: HttpRequest) -> str:
    assert request.resolver_match is not None
    return str(request.resolver_match.kwargs["token"])


def _remember(request: HttpRequest, answer: HttpResponse, visit: Visit, *, trusted: bool) -> HttpResponse:
    answer.set_cookie(
        _COOKIE,
        tokens.sign_visit(visit, trusted=trusted),
        max_age=_COOKIE_S,
        path=reverse("join:open", args=[_token(request)]),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return answer


def _lead_on(request: HttpRequest, visit: Visit, *, trusted: bool) -> HttpResponse:
    answer = redirect(_at("next", _token(request), visit, trusted=trusted))
    answer.status_code = 303
    return answer


def _go_on(request: HttpRequest, visit: Visit, *, trusted: bool) -> HttpResponse:
    answer = _lead_on(request, visit, trusted=trusted)
    return _remember(request, answer, visit, trusted=trusted)


@require_safe
@_join_page
def open_link(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """The consent page; who has agreed goes on where they stopped."""
    return _arrive(request, link, _facts(request, link))


@require_safe
@_join_page
def invited(request: HttpRequest, link: StudyLink, secret: str) -> HttpResponse:
    """The personal link of somebody on a class's list."""
    key = tokens.read_roster(secret, link)
    row = RosterRow.objects.filter(pk=key, link=link).first() if key else None
    if row is None:
        raise JoinError(gettext("This personal link is not complete. Copy the whole of it."), status=404)
    return _arrive(request, link, _facts(request, link, roster=row))


def _arrive(request: HttpRequest, link: StudyLink, facts: ArrivalFacts) -> HttpResponse:
    cookie_state = _from_cookie(request, link, facts)
    visit = cookie_state.visit if cookie_state else visits.find_visit(link, facts)
    trusted = (cookie_state is not None and cookie_state.trusted) or facts.proven
    if (visit is None or visit.consented_at is None) and (refusal := visits.why_closed(link)):
        raise refusal
    visit = visit if visit is not None and cookie_state else visits.open_visit(link, facts)
    visit.link = link
    text = consents.text_for(link, wanted_languages(request))
    if visit.consented_at is None and not link.code_word_digest and visits.continues(visit, text):
        visit = visits.agree(visit, text)
    if visit.consented_at is not None:
        return _go_on(request, visit, trusted=trusted)
    trusted = trusted or not visit.external_id
    answer = _consent_page(request, link, visit, text, trusted=trusted)
    return _remember(request, answer, visit, trusted=trusted)


class _KnownVisit:
    def __init__(self, visit: Visit, state: tokens.VisitState) -> None:
        self.visit, self.trusted = visit, state.trusted


def _from_cookie(request: HttpRequest, link: StudyLink, facts: ArrivalFacts) -> _KnownVisit | None:
    """The visit of the cookie, unless the address names another person or another session."""
    state = tokens.read_visit(request.COOKIES.get(_COOKIE, ""))
    visit = Visit.objects.filter(pk=state.visit, link=link).select_related("guest").first() if state else None
    if visit is None or state is None:
        return None
    values = {value for _, value in facts.pairs}
    names = {name for name, _ in facts.pairs}
    if facts.roster is not None:
        same = (visit.external_kind, visit.external_id) == (visits.ROSTER, str(facts.roster.pk))
        return _KnownVisit(visit, state) if same else None
    named = names & set(link.id_parameters)
    if named and visit.external_id not in values:
        return None
    if visit.session and names & set(visits.SESSIONS) and visit.session not in values:
        return None
    return _KnownVisit(visit, state)


def _consent_page(
    request: HttpRequest,
    link: StudyLink,
    visit: Visit,
    text: ConsentText,
    *,
    trusted: bool,
    problem: str = "",
) -> HttpResponse:
    return _show(
        request,
        "consent.html",
        status=422 if problem else 200,
        link=link,
        text=text,
        body=consents.render_text(text.body),
        own_texts=consents.own_kinds(),
        state=tokens.sign_visit(visit, trusted=trusted),
        token=_token(request),
        problem=problem,
    )


@require_POST
@_join_page
def consent(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """Agree, or not."""
    visit, trusted = _needed_state(request, link)
    token = _token(request)
    if request.POST.get("agree") != "yes":
        visit = visits.refuse_consent(visit)
        if visit.consented_at is None:
            return redirect(_at("end", token, visit, trusted=trusted))
        return _go_on(request, visit, trusted=trusted)
    key = request.POST.get("text", "")
    text = get_object_or_404(
        ConsentText,
        **columns_of(link.owner),
        kind=ConsentText.Kind.CONSENT,
        pk=key if key.isdigit() else 0,
    )
    counter = f"join-word:{link.pk}:{neighbourhood(client_address(request))}"
    if limits().peek(counter, rate=_WRONG_RATE, burst=_WRONG_BURST):
        raise JoinError(
            gettext("Too many wrong code words came from your network. Wait a minute."), status=429
        )
    try:
        visit = visits.agree(visit, text, code_word=request.POST.get("code_word", "")[:200])
    except JoinError as error:
        if error.status != 422:
            raise
        limits().take(counter, rate=_WRONG_RATE, burst=_WRONG_BURST)
        return _consent_page(request, link, visit, text, trusted=trusted, problem=str(error))
    if not visit.agreed_just_now and not trusted:
        # A person agreed before, and this post may be another's: the work goes on, and the cookie
        # stays as it is, which after a second click is that of the person.
        return _lead_on(request, visit, trusted=False)
    # Who is the first to agree under an identity is that person as far as we can ever know.
    agreed = Visit.objects.filter(guest=visit.guest_id, consented_at__isnull=False).count()
    return _go_on(request, visit, trusted=trusted or agreed == 1)


@require_safe
@_join_page
def following(request: HttpRequest, link: StudyLink, signed: str = "") -> HttpResponse:
    """The next task, or the page at the end: task pages lead here when the work is stored.

    Their addresses have the state in the path, for a task page hands nothing over to an address with a query.
    """
    visit, trusted = _needed_state(request, link, signed)
    token = _token(request)
    if visit.guest is None:
        return redirect(_at("end" if visit.ended_at else "open", token, visit, trusted=trusted))
    path = reverse("join:handed_over", args=[token, tokens.sign_visit(visit, trusted=trusted)])
    back = f"{settings.TASK_URL}{path}"
    address = visits.lead(visit, back)
    answer = redirect(address or _at("end", token, visit, trusted=trusted))
    return _remember(request, answer, visit, trusted=trusted)


@require_safe
@_join_page
def end(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """How it ended: the completion code, and the way back to the panel."""
    visit, trusted = _needed_state(request, link)
    if visit.ended_at is None:
        return redirect(_at("next" if visit.guest else "open", _token(request), visit, trusted=trusted))
    heading, sentence = ENDS[Outcome(visit.outcome)]
    if visit.outcome == Outcome.COMPLETED and target_of(link).has_work_for_others(link):
        sentence = WORK_FOR_OTHERS
    back = visits.return_address(visit)
    answer = _show(
        request,
        "end.html",
        link=link,
        visit=visit,
        heading=heading,
        sentence=sentence,
        back=back,
        may_come_again=_may_come_again(link, visit),
        token=_token(request),
        state=tokens.sign_visit(visit, trusted=trusted),
        trusted=trusted and visit.guest is not None,
    )
    if back and link.returns_at_once:
        answer["Refresh"] = f"8;url={back}"
    return answer


def _may_come_again(link: StudyLink, visit: Visit) -> bool:
    """Whether there can be more for this person later: not beyond the tasks that the link gives to one."""
    if visit.outcome == Outcome.NOTHING_LEFT:
        return True
    if visit.outcome != Outcome.COMPLETED or visit.guest is None:
        return False
    worker = visit.guest.worker_id
    return not link.most_tasks or target_of(link).finished(link, [worker]).get(worker, 0) < link.most_tasks


def _own(request: HttpRequest, link: StudyLink) -> Visit:
    visit, trusted = _needed_state(request, link)
    if visit.guest is None or not trusted:
        raise JoinError(
            gettext("This page is shown only where you joined the study, or by your private link."),
            status=403,
        )
    return visit


@require_safe
@_join_page
def own_work(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """Your work here: how much is done, the way to another device, an account, and leaving the study."""
    return _own_page(request, link, _own(request, link))


def _own_page(request: HttpRequest, link: StudyLink, visit: Visit, problem: str = "") -> HttpResponse:
    guest, token = visit.guest, _token(request)
    assert guest is not None
    finished = target_of(link).finished(link, [guest.worker_id]).get(guest.worker_id, 0)
    private = f"{settings.TASK_URL}{reverse('join:back', args=[token, tokens.sign_guest(guest, link)])}"
    return _show(
        request,
        "own_work.html",
        status=422 if problem else 200,
        link=link,
        guest=guest,
        visit=visit,
        finished=finished,
        remarks=target_of(link).remarks(link, guest),
        private=private,
        code=tokens.recovery_code_of(guest),
        token=token,
        state=tokens.sign_visit(visit, trusted=True),
        problem=problem,
    )


@require_safe
@_join_page
def stop(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """The person goes away in the middle of a task: what is saved, and how to go on."""
    visit, trusted = _needed_state(request, link)
    token = _token(request)
    return _show(
        request,
        "stopped.html",
        link=link,
        following=_at("next", token, visit, trusted=trusted),
        work=_at("work", token, visit, trusted=True) if trusted and visit.guest else "",
    )


@require_POST
@_join_page
def withdraw(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """The person leaves the study and takes their answers out of coming releases."""
    visit = _own(request, link)
    assert visit.guest is not None
    withdraw_guest(visit.guest, link)
    visits.lead(visit, "")
    return redirect(_at("end", _token(request), visit, trusted=True))


@require_POST
@sensitive_post_parameters()
@_join_page
def account(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """The guest becomes an account with a name and a password."""
    visit = _own(request, link)
    guest = visit.guest
    assert guest is not None
    name, password = request.POST.get("username", "").strip(), request.POST.get("password", "")
    if guest.user_id is not None:
        return _own_page(request, link, visit)
    user = User(username=name)
    try:
        user.clean_fields(exclude=["password"])
        validate_password(password, user)
        user.set_password(password)
        with transaction.atomic():
            user.save()
            guest.user = user
            guest.save(update_fields=["user"])
            kind_of(guest.owner).adopt(guest, user)
    except ValidationError as error:
        return _own_page(request, link, visit, " ".join(error.messages))
    except IntegrityError:
        return _own_page(request, link, visit, gettext("Somebody has this name already. Choose another one."))
    security.log("guest.account", subject=name)
    return redirect(_at("work", _token(request), visit, trusted=True))


@require_POST
@_join_page
def other_device(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """Go on with the code that the other device shows."""
    counter = f"join-code:{neighbourhood(client_address(request))}"
    if limits().peek(counter, rate=_WRONG_RATE, burst=_WRONG_BURST):
        raise JoinError(gettext("Too many wrong codes came from your network. Wait a minute."), status=429)
    try:
        guest = visits.guest_by_code(link, request.POST.get("code", "")[:40])
    except JoinError:
        limits().take(counter, rate=_WRONG_RATE, burst=_WRONG_BURST)
        raise
    return _go_on(request, visits.visit_of_guest(link, guest), trusted=True)


@require_safe
@_join_page
def come_back(request: HttpRequest, link: StudyLink, secret: str) -> HttpResponse:
    """A private link: the person goes on where they stopped, on any device."""
    key = tokens.read_guest(secret, link)
    visit = Visit.objects.filter(link=link, guest=key, consented_at__isnull=False).order_by("-pk").first()
    if key is None or visit is None:
        raise JoinError(gettext("This private link is not complete. Copy the whole of it."), status=404)
    return _go_on(request, visit, trusted=True)


@require_safe
def text(request: HttpRequest, kind: str) -> HttpResponse:
    """Terms and privacy of the installation, as they stand now."""
    if kind not in (ConsentText.Kind.TERMS, ConsentText.Kind.PRIVACY):
        raise Http404("There is no such text.")
    newest = consents.newest_text(None, kind)
    body = consents.render_text(newest.body) if newest else ""
    return _show(request, "text.html", text=newest, body=body, title=ConsentText.Kind(kind).label)
