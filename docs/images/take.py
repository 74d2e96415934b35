"""Takes the pictures of the documentation from a running demonstration.

    make demo PORT=8111                                   # in another terminal
    DATA_DIR=var/demo .venv/bin/python docs/images/take.py http://localhost:8111

Pages wide and at 390 px, light and dark. One tied query is accepted, copies of references are put back to be
judged, and a few tasks are taken on.
"""

# ruff: noqa: E402, PLC0415  # the rooms can be imported once Django is set up

import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
# The browser's library keeps an event loop running in this thread.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parent
SIZES = {"wide": (1280, 860), "phone": (390, 844)}
PROJECT = "answers"
WORKER_PAGES = {
    "screening": "Is it a query that a short passage settles?",
    "curation": "Which passages answer the query?",
    "distillation": "Answer a question in your own words",
    "judging": "How correct are these answers?",
}
LOOKS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]
#: Pages of the judging stage, whose tables and charts look alike in all: seen once each way.
FEW_LOOKS = [("wide", "light"), ("phone", "dark")]
JUDGING = f"/desk/projects/{PROJECT}/stages/judging/judging/"


def cookie_of(username: str) -> str:
    """A session of somebody of the demonstration, as if they had signed in and chosen a password."""
    from django.contrib.auth.models import User
    from django.test import Client

    from accounts.services import password_was_changed

    user = User.objects.get(username=username)
    user.set_password("seven green kettles")
    user.save()
    password_was_changed(user=user)
    client = Client()
    client.force_login(user)
    return str(client.cookies["sessionid"].value)


def signed_in(browser: Browser, base: str, cookie: str, *, size: str = "wide", scheme: str = "light") -> Page:
    """A page in which somebody is signed in, of this size and colour scheme."""
    width, height = SIZES[size]
    context = browser.new_context(
        base_url=base,
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        has_touch=size == "phone",
        is_mobile=size == "phone",
    )
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": base}])
    return context.new_page()


def take(
    browser: Browser,
    base: str,
    cookie: str,
    pages: dict[str, str],
    looks: Sequence[tuple[str, str]] = tuple(LOOKS),
) -> None:
    """Pictures of these pages, in each size and scheme of `looks`."""
    for size, scheme in looks:
        page = signed_in(browser, base, cookie, size=size, scheme=scheme)
        for name, address in pages.items():
            page.goto(address)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=FOLDER / f"{name}-{size}-{scheme}.png")
        page.context.close()


def accept_a_tied_query(page: Page) -> None:
    """As a researcher does it; curation wants an editor for it then."""
    page.goto(f"/desk/projects/{PROJECT}/adjudication/")
    page.locator("tbody a").first.click()
    page.get_by_role("button", name="Accept the query").click()


def judging_pages() -> dict[str, str]:
    """Pages of the judging stage on the desk, with that of a judge whom the filters removed."""
    from judgments.models import Verdict

    removed = Verdict.objects.filter(run__stage__slug="judging", run__state="in force", removes=True)
    judge = removed.order_by("pk").values_list("worker", flat=True)[0]
    return {
        "systems": f"/desk/projects/{PROJECT}/systems/",
        "agreement": f"{JUDGING}agreement/",
        "filters": f"{JUDGING}filters/",
        "scores": f"{JUDGING}scores/",
        "judges": f"{JUDGING}judges/",
        "judge": f"{JUDGING}judges/{judge}/",
        "planning": f"{JUDGING}planning/",
    }


def put_copies_back() -> None:
    """As a researcher does it; the judging stage wants people for them then."""
    from django.contrib.auth.models import User

    from judgments.models import Candidate
    from judgments.services.candidates import put_back

    actor = User.objects.get(username="admin")
    for row in Candidate.objects.filter(system__project__slug=PROJECT, aside="exact", answer=None):
        put_back(candidate=row, reason="We want to see that copies get 5.", actor=actor)


def taken(page: Page) -> Iterator[tuple[str, str]]:
    """Take on a task of each kind; its name and the address of its page."""
    for name, title in WORKER_PAGES.items():
        end = time.monotonic() + 60
        while time.monotonic() < end:
            page.goto("/")
            link = page.get_by_role("link", name=f"Preview: {title}", exact=True)
            if link.count():
                break
            time.sleep(2)
        link.first.click()
        page.get_by_role("button", name="Accept", exact=True).click()
        page.wait_for_url("**/tasks/*assignment_id=*")
        yield name, page.url


def review_page() -> str:
    """The review of the query with most flags."""
    from django.db.models import Count

    from annotation.models import Query

    found = Query.objects.filter(project__slug=PROJECT, status="answered")
    flagged = found.annotate(flags=Count("answers__flags")).order_by("-flags", "pk")[0]
    return f"/desk/projects/{PROJECT}/stages/distillation/answers/queries/{flagged.pk}/"


def rewrite_page() -> str:
    """Where the author of the answer that was sent back writes it again."""
    from django.urls import reverse

    from annotation.models import Answer
    from annotation.rewriting import tokens

    answer = Answer.objects.get(query__project__slug=PROJECT, state="rewrite")
    return reverse("rewriting:rewrite", args=[tokens.write(answer.pk)])


def main() -> None:
    """Take all."""
    import django

    django.setup()
    base = sys.argv[1]
    admin, worker = cookie_of("admin"), cookie_of("ada")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--headless", "--no-sandbox", "--disable-gpu"],
        )
        take(browser, base, admin, {"review": review_page()})
        take(browser, base, admin, judging_pages(), FEW_LOOKS)
        put_copies_back()
        accept_a_tied_query(signed_in(browser, base, admin))
        page = signed_in(browser, base, worker)
        take(browser, base, worker, {**dict(taken(page)), "rewrite": rewrite_page()})
        browser.close()


if __name__ == "__main__":
    main()
