"""One simulated person's way, step by step: through HITs with an account, or along a study link without one.

A worker's life is a generator: it does something, then says what comes next. `WorkPace` takes time that a
run may skip, `RetryDelays` takes real time, `None` means that there is nothing to do until somebody brings
news. A `Visitor` opens the address of a study link, or the one that a panel gives a participant, and does
what follows.
"""

import contextlib
import json
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urljoin, urlsplit

from crowd.models import HitUnit, Stage
from crowd.simulation.accounts import Account, Answer, Browser, LostError, PageRefusedError
from crowd.simulation.answers import Effort, Form, SimulatedPerson, answer_unit, effort_of, read_form

_T = TypeVar("_T")
#: HITs in a row that came to nothing, after which somebody goes home.
PATIENCE = 8
_ATTEMPTS = 6
_TIMES_A_FORM_IS_MENDED = 2


@dataclass(frozen=True, slots=True)
class WorkPace:
    """Reading, choosing, writing."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RetryDelays:
    """For a server that did not answer."""

    seconds: float


Life = Generator[WorkPace | RetryDelays | None, None, _T]


class World(Protocol):
    """What people see of where they are."""

    stage: Stage
    site: str
    browser: Browser

    def groups(self) -> list[str]:
        """Groups of HITs at the marketplace that are the stage's."""

    def is_ours(self, frame_url: str) -> bool:
        """Whether a task page is the stage's, and not another one's in the same group."""

    def units_behind(self, page_url: str) -> dict[str, str]:
        """Units by what stands for them in a task page; empty where they stand there themselves."""

    def count(self, what: str, who: SimulatedPerson) -> None:
        """Note that something happened."""

    def trouble(self, text: str) -> None:
        """Note what should not have happened."""


class GoneHome(Exception):  # noqa: N818 - not an error
    """Somebody has had enough."""


class Person:
    """Somebody with an account, in a world; who submits `most` HITs and then goes home, if that is given."""

    def __init__(
        self,
        who: SimulatedPerson,
        account: Account,
        world: World,
        *,
        drafts: bool = True,
        most: int | None = None,
    ) -> None:
        self.who, self._account, self._world = who, account, world
        self._drafts, self._most = drafts, most
        self._browser, self._visits = world.browser, 0
        self._authorization = f"Bearer {account.token}"

    def life(self) -> Life[None]:
        """Take HITs and do them, until there are none, or patience ends."""
        in_vain = submitted = 0
        while in_vain < PATIENCE and submitted != self._most:
            assignment = yield from self._insist(self._accept)
            if assignment is None:
                yield None
                continue
            self._visits += 1
            what = yield from self._work(assignment)
            self._world.count(what, self.who)
            if what == "abandoned":
                return
            submitted += what == "submitted"
            in_vain = 0 if what == "submitted" else in_vain + 1

    def _accept(self) -> dict[str, Any] | None:
        for group in self._world.groups():
            answer = self._call("accept", {"group_id": group})
            document = answer.json()
            if answer.status == 200:
                return dict(document)
            if document.get("error") == "QueueFull":
                raise GoneHome(document["message"])
            if answer.status == 401:
                raise GoneHome("The marketplace does not know this worker any more.")
        return None

    def _work(self, assignment: dict[str, Any]) -> Life[str]:
        """Do an accepted HIT; what became of it."""
        if not self._world.is_ours(assignment["frame_url"]):
            return (yield from self._give_back(assignment, "elsewhere"))
        page = yield from self._insist(lambda: self._browser.get(assignment["frame_url"]))
        form = self._read(page.text, assignment["frame_url"]) if page.status == 200 else None
        if form is None:
            if page.status != 403:
                self._world.trouble(f"The task page answered {page.status}: {page.text[:200]!r}")
            return (yield from self._give_back(assignment, "refused"))
        if not form.fields:
            return (yield from self._hand_over(form, twice=False))
        fate, profile = self.who.chance("fate", self._visits), self.who.profile
        leaves, returns = fate.random() < profile.leaves, fate.random() < profile.returns
        twice = fate.random() < profile.clicks_twice
        answers: dict[str, str] = {}
        effort = Effort()
        units = form.units
        for unit in units[: len(units) // 2] if leaves or returns else units:
            filled = answer_unit(self._world.stage, form, unit, self.who)
            mine = effort_of(form, unit, filled, self.who)
            yield WorkPace(mine.seconds)
            effort.add(mine)
            answers.update(filled)
            self._save_draft(form, filled, effort)
        if leaves:
            return "abandoned"
        if returns:
            yield WorkPace(5.0 * profile.pace)
            return (yield from self._give_back(assignment, "returned"))
        if "telemetry" in form.hidden:
            form.hidden["telemetry"] = json.dumps(self._telemetry(effort))
        return (yield from self._send(assignment, form, answers, twice=twice))

    def _read(self, html: str, url: str) -> Form | None:
        form = read_form(html, url)
        if form is not None and form.fields:
            form.behind = self._world.units_behind(url)
        return form

    def _send(
        self, assignment: dict[str, Any], form: Form, answers: dict[str, str], *, twice: bool
    ) -> Life[str]:
        """Submit the page; mend what it finds wrong, and hand its receipt over."""
        for attempt in range(1 + _TIMES_A_FORM_IS_MENDED):
            page = yield from self._insist(self._click(form.action, {**form.hidden, **answers}, twice=twice))
            next_form = self._read(page.text, form.action)
            if page.status == 200:
                return (yield from self._hand_over(next_form, twice=twice)) if next_form else "submitted"
            if page.status != 422 or next_form is None:
                break
            form = next_form
            yield WorkPace(5.0 * self.who.profile.pace)
            answers = {}  # a box that is no longer ticked is not sent
            for unit in form.units:
                answers.update(answer_unit(self._world.stage, form, unit, self.who, attempt=attempt + 1))
        self._world.trouble(f"The task page did not take an answer ({page.status}): {page.text[:300]!r}")
        return (yield from self._give_back(assignment, "refused"))

    def _hand_over(self, form: Form, *, twice: bool) -> Life[str]:
        """Give the marketplace the receipt, as the page's own form does."""
        page = yield from self._insist(self._click(form.action, form.hidden, twice=twice))
        if page.status == 200:
            return "submitted"
        if page.status == 409:
            return "late"
        self._world.trouble(f"The marketplace did not take a receipt ({page.status}): {page.text[:300]!r}")
        return "late"

    def _give_back(self, assignment: dict[str, Any], why: str) -> Life[str]:
        yield from self._insist(lambda: self._call("return", {"assignment_id": assignment["assignment_id"]}))
        return why

    def _telemetry(self, effort: Effort) -> dict[str, int | str]:
        visit = f"{self.who.chance('visit', self._visits).getrandbits(48):012x}"
        return {"visit": visit, **effort.telemetry}

    def _save_draft(self, form: Form, changes: dict[str, str], effort: Effort) -> None:
        if not (self._drafts and form.draft_url):
            return
        value = {"fields": changes, "telemetry": self._telemetry(effort)}
        with contextlib.suppress(LostError):  # the page's script saves again after the next change, too
            self._browser.send_json(form.draft_url, value, f"Ticket {form.hidden.get('ticket', '')}")

    def _click(self, url: str, fields: dict[str, str], *, twice: bool) -> Callable[[], Answer]:
        """Press the button once, or twice at the same moment."""
        if not twice:
            return lambda: self._browser.send_form(url, fields)
        return lambda: _at_once(lambda: self._browser.send_form(url, fields), self._browser)

    def _call(self, what: str, value: dict[str, str]) -> Answer:
        return self._browser.send_json(f"{self._world.site}/worker-api/{what}", value, self._authorization)

    def _insist(self, call: Callable[[], _T]) -> Life[_T]:
        """Try until an answer comes, as somebody who reloads a page; raises LostError in the end."""
        for attempt in range(_ATTEMPTS - 1):
            try:
                return call()
            except LostError:
                yield RetryDelays(0.2 * 2.0**attempt)
        return call()


def _at_once(call: Callable[[], Answer], browser: Browser) -> Answer:
    """Make a call twice at the same time; the better of both answers."""
    got: list[Answer] = []

    def second() -> None:
        try:
            got.append(call())
        except LostError:
            pass
        finally:
            browser.close()

    other = threading.Thread(target=second)
    other.start()
    try:
        got.append(call())
    finally:
        other.join()
    return min(got, key=lambda answer: (answer.status, "<form" not in answer.text))


_MOST_REDIRECTS = 8
#: Tasks that one person does at most, and how often a page is mended that says what is missing.
_MOST_TASKS = 50
_ATTEMPTS_AT_A_TASK = 3


class Visitor:
    """Somebody with a browser that keeps no cookies, as inside the browsers of apps."""

    def __init__(self, who: SimulatedPerson, browser: Browser) -> None:
        self._who, self._browser = who, browser

    def visit(self, address: str, joined: Callable[[str], None] | None = None) -> tuple[int, str]:
        """Do everything there is behind an address: how many tasks that was, and the last page's text.

        `joined` is told the state of a study link's visit before its first task is done. Raises LostError
        where no page comes, PageRefusedError where it is not the one of a task.
        """
        at, page = self._follow(address, self._browser.get(address))
        consent = read_form(page.text, at)
        if consent is not None and "text" in consent.hidden:
            at, page = self._send(consent, {"agree": "yes"})
            if joined is not None:
                joined(consent.hidden["v"])
        done = 0
        while done < _MOST_TASKS and (form := read_form(page.text, at)) and "ticket" in form.hidden:
            at, page = self._work(at, form)
            done += 1
        return done, page.text

    def _work(self, at: str, form: Form) -> tuple[str, Answer]:
        """Fill in and send a task page; what comes after it."""
        key = urlsplit(at).path.rstrip("/").rpartition("/")[2]
        units = list(HitUnit.objects.filter(hit__key=key).select_related("hit__stage__project"))
        values: dict[str, str] = {}
        for attempt in range(_ATTEMPTS_AT_A_TASK):
            form.behind = {str(each.position): each.unit for each in units}
            for each in units:
                values |= answer_unit(each.hit.stage, form, each.unit, self._who, attempt=attempt)
            after, page = self._send(form, values)
            again = read_form(page.text, at)
            if page.status != 422 or again is None:
                return after, page
            form, values = again, {}
        raise PageRefusedError(f"A task page did not take an answer: {page.message}")

    def _send(self, form: Form, values: dict[str, str]) -> tuple[str, Answer]:
        return self._follow(form.action, self._browser.send_form(form.action, {**form.hidden, **values}))

    def _follow(self, at: str, page: Answer) -> tuple[str, Answer]:
        """The page at the end of redirects, with its address."""
        for _ in range(_MOST_REDIRECTS):
            if not page.location:
                if page.status not in (200, 422):
                    raise PageRefusedError(page.message or f"{urlsplit(at).path} answered {page.status}.")
                return at, page
            at = urljoin(at, page.location)
            page = self._browser.get(at)
        raise LostError(f"{urlsplit(at).path} leads on and on.")
