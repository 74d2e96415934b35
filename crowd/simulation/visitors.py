"""Simulated people without an account: they open an address, agree, and do what they are led to.

It is the address of a study link, or the one that a panel gives a participant.
"""

from urllib.parse import urljoin, urlsplit

from crowd.models import HitUnit
from crowd.simulation.accounts import Answer, Browser, LostError
from crowd.simulation.answers import Form, SimulatedPerson, answer_unit, read_form

_MOST_REDIRECTS = 8
#: Tasks that one person does at most, and how often a page is mended that says what is missing.
_PATIENCE = 50
_ATTEMPTS = 3


class Visitor:
    """Somebody with a browser that keeps no cookies, as inside the browsers of apps."""

    def __init__(self, who: SimulatedPerson, browser: Browser) -> None:
        self._who, self._browser = who, browser

    def visit(self, address: str) -> tuple[int, str]:
        """Do everything there is behind an address: how many tasks that was, and the last page's text.

        Raises LostError where a page is not as it should be.
        """
        at, page = self._follow(address, self._browser.get(address))
        consent = read_form(page.text, at)
        if consent is not None and "text" in consent.hidden:
            at, page = self._send(consent, {"agree": "yes"})
        done = 0
        while done < _PATIENCE and (form := read_form(page.text, at)) and "ticket" in form.hidden:
            at, page = self._work(at, form)
            done += 1
        return done, page.text

    def _work(self, at: str, form: Form) -> tuple[str, Answer]:
        """Fill in and send a task page; what comes after it."""
        key = urlsplit(at).path.rstrip("/").rpartition("/")[2]
        units = list(HitUnit.objects.filter(hit__key=key).select_related("hit__stage__project"))
        values: dict[str, str] = {}
        for attempt in range(_ATTEMPTS):
            form.behind = {str(each.position): each.unit for each in units}
            for each in units:
                values |= answer_unit(each.hit.stage, form, each.unit, self._who, attempt=attempt)
            after, page = self._send(form, values)
            again = read_form(page.text, at)
            if page.status != 422 or again is None:
                return after, page
            form, values = again, {}
        raise LostError(f"A task page did not take an answer: {page.text[:300]!r}")

    def _send(self, form: Form, values: dict[str, str]) -> tuple[str, Answer]:
        return self._follow(form.action, self._browser.send_form(form.action, {**form.hidden, **values}))

    def _follow(self, at: str, page: Answer) -> tuple[str, Answer]:
        """The page at the end of redirects, with its address."""
        for _ in range(_MOST_REDIRECTS):
            if not page.location:
                if page.status not in (200, 422):
                    raise LostError(f"{urlsplit(at).path} answered {page.status}: {page.text[:300]!r}")
                return at, page
            at = urljoin(at, page.location)
            page = self._browser.get(at)
        raise LostError(f"{urlsplit(at).path} leads on and on.")
