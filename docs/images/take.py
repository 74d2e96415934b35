"""Takes the pictures of the documentation from a running demonstration.

    make demo PORT=8111                                   # in another terminal
    DATA_DIR=var/demo .venv/bin/python docs/images/take.py http://localhost:8111

Pages of the desk wide, three of them also at 390 px and dark; pages of workers in both sizes. The tour is
hidden but in the picture of the README. In the campaign that is in the middle of its work, systems' answers
come in and the judging stage opens, and a few tasks are taken on. It ends at a page that is an error, asks to
sign in, or holds a frame that did not load.
"""

# ruff: noqa: E402, PLC0415  # the apps can be imported once Django is set up

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
#: The finished campaign, the one in the middle of its work, and the one with a study link.
PROJECT, MIDDLE, ANYWHERE = "answers", "more", "anywhere"
WORKER_PAGES = {
    "screening": "Is it a query that a short passage settles?",
    "curation": "Which passages answer the query?",
    "distillation": "Answer a question in your own words",
    "judging": "How correct are these answers?",
}
#: Pages of workers in both sizes; pages of the desk once, and a few of them small and dark.
WORKER_LOOKS = [("wide", "light"), ("phone", "light")]
ONCE = [("wide", "light")]
SMALL = [("phone", "dark")]
JUDGING = f"/desk/projects/{PROJECT}/stages/judging/judging/"
DESK_PAGES = {
    "overview": f"/desk/projects/{PROJECT}/",
    "waiting": f"/desk/projects/{MIDDLE}/",
    "stage": f"/desk/projects/{MIDDLE}/stages/distillation/",
    "new-stage": f"/desk/projects/{MIDDLE}/new-stage/?kind=judging",
    "people": f"/desk/projects/{PROJECT}/workers/",
    "all-agreement": f"/desk/projects/{PROJECT}/agreement/",
    "adjudication": f"/desk/projects/{MIDDLE}/adjudication/",
    "release": f"/desk/projects/{PROJECT}/releases/1.0.0/",
    "evaluation": f"/desk/projects/{PROJECT}/evaluations/1.0.0/1/",
    "leaderboard": f"/leaderboards/{PROJECT}/1.0.0/",
    "search": f"/desk/projects/{MIDDLE}/search/?q=What+is+money+used+for%3F&o="
    "&q=What+would+trade+be+like+without+it%3F&o=",
    "beginnings": "/desk/new-project/",
}
#: Pages of the requester, behind its address; the first batch waits for review.
REQUESTER_PAGES = {
    "lab": "",
    "lab-batch": "batches/1/",
    "lab-review": "review/workers/",
    "lab-money": "money/",
}
#: Pages that are taken on a dark telephone, too.
ON_PHONES = ("overview", "agreement", "lab")


def cookie_of(username: str) -> str:
    """A session of somebody of the demonstration, as if they had signed in and chosen a password."""
    from django.contrib.auth.models import User
    from django.test import Client

    from core.accounts.services import password_was_changed

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


def visit(page: Page, address: str) -> None:
    """Open a page whole. RuntimeError for an error, a sign-in page, or a frame that did not load."""
    response = page.goto(address)
    page.wait_for_load_state("networkidle")
    if response is None or not response.ok:
        raise RuntimeError(f"{address} answers {response.status if response else 'nothing'}")
    if "/accounts/login/" in page.url:
        raise RuntimeError(f"{address} asks to sign in")
    broken = [frame.url for frame in page.frames if frame.url.startswith("chrome-error:")]
    if broken:
        raise RuntimeError(f"{address} holds a frame that did not load")
    if any(frame.get_by_role("heading", name="You cannot do this one").count() for frame in page.frames):
        raise RuntimeError(f"{address} refuses the worker")


def take(
    browser: Browser,
    base: str,
    cookie: str,
    pages: dict[str, str],
    looks: Sequence[tuple[str, str]] = tuple(ONCE),
) -> None:
    """Pictures of these pages, in each size and scheme of `looks`."""
    for size, scheme in looks:
        page = signed_in(browser, base, cookie, size=size, scheme=scheme)
        for name, address in pages.items():
            visit(page, address)
            page.screenshot(path=FOLDER / f"{name}-{size}-{scheme}.png")
        page.context.close()


def hide_the_tour(browser: Browser, base: str, cookie: str) -> None:
    """As a person does it; their session remembers."""
    page = signed_in(browser, base, cookie)
    visit(page, DESK_PAGES["overview"])
    page.screenshot(path=FOLDER / "desk.png")
    page.get_by_role("button", name="Hide the tour").click()
    page.context.close()


def judging_pages() -> dict[str, str]:
    """Pages of the judging stage on the desk."""
    return {
        "systems": f"/desk/projects/{PROJECT}/systems/",
        "agreement": f"{JUDGING}agreement/",
        "filters": f"{JUDGING}filters/",
        "judges": f"{JUDGING}judges/",
    }


def requester_pages() -> dict[str, str]:
    """Pages of the demonstration's lab."""
    from django.urls import reverse

    from distillery.demo.lab import LAB
    from marketplace.models import Requester

    lab = Requester.objects.get(name=LAB)
    base = reverse("requester:overview", args=[lab.customer_id])
    return {name: base + path for name, path in REQUESTER_PAGES.items()}


def open_judging() -> None:
    """As a researcher does it: two systems' answers come in, and the stage that was planned opens."""
    from django.contrib.auth.models import User

    from annotation.models import Query
    from annotation.services.review_decisions import approve_unflagged
    from core.projects.models import Project
    from crowd.models import Stage
    from crowd.services.stages import change_stage, open_stage, set_stage_budget
    from crowd.services.tick import tick
    from judgments.services.imports import import_candidates

    actor, project = User.objects.get(username="admin"), Project.objects.get(slug=MIDDLE)
    import_candidates(project=project, path=ROOT / "judgments" / "sample" / "candidates.jsonl", actor=actor)
    stage = Stage.objects.select_related("project", "endpoint").get(project=project, slug="judging")
    change_stage(stage=stage, changes={"redundancy": 2}, actor=actor)
    set_stage_budget(stage=stage, budget_cents=20_00, actor=actor)
    distillation = Stage.objects.get(project=project, slug="distillation")
    for query in Query.objects.filter(project=project, answers__isnull=False).distinct():
        approve_unflagged(stage=distillation, query=query, actor=actor)
    tick()
    assert Query.objects.filter(project=project, status="answered").exists()
    open_stage(stage=stage, actor=actor)
    tick()


def taken(page: Page, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Take on a task of each of these kinds; its name and the address of its page."""
    for name in names:
        title = WORKER_PAGES[name]
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


def take_study_link(browser: Browser, base: str, cookie: str) -> None:
    """The form of a new link and the page of one, and what somebody with a telephone sees behind it."""
    from people.links import address_of
    from people.models import StudyLink

    link = StudyLink.objects.get(project__slug=ANYWHERE)
    people = f"/desk/projects/{ANYWHERE}/people/"
    page = signed_in(browser, base, cookie)
    for name, address in (("new-link", f"{people}new/?from=class"), ("study-link", f"{people}{link.pk}/")):
        visit(page, address)
        for summary in page.get_by_text("QR code", exact=True).all():
            summary.click()
        page.screenshot(path=FOLDER / f"{name}-wide-light.png", full_page=True)
    page.context.close()
    width, height = SIZES["phone"]
    context = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=True, is_mobile=True, color_scheme="light"
    )
    phone = context.new_page()
    visit(phone, address_of(link))
    phone.screenshot(path=FOLDER / "consent-phone-light.png", full_page=True)
    phone.get_by_role("button", name="older and agree").click()
    phone.wait_for_url("**/task/**")
    phone.wait_for_load_state("networkidle")
    phone.screenshot(path=FOLDER / "link-task-phone-light.png", full_page=True)
    context.close()


def review_page() -> str:
    """The review of the query with most flags."""
    from django.db.models import Count

    from annotation.models import Query

    found = Query.objects.filter(project__slug=MIDDLE, answers__isnull=False)
    flagged = found.annotate(flags=Count("answers__flags")).order_by("-flags", "pk")[0]
    return f"/desk/projects/{MIDDLE}/stages/distillation/answers/queries/{flagged.pk}/"


def rewrite_page() -> str:
    """Where the author of the answer that was sent back writes it again."""
    from django.urls import reverse

    from annotation.models import Answer
    from annotation.services import query_answers

    answer = Answer.objects.get(query__project__slug=MIDDLE, state="rewrite")
    return reverse("rewriting:rewrite", args=[query_answers.write_rewrite_token(answer.pk)])


def main() -> None:
    """Take all."""
    import django

    base = sys.argv[1]
    # HITs that are made here lead to the demonstration's task pages, on whatever port it is.
    os.environ["TASK_URL"] = base
    django.setup()
    admin, worker = cookie_of("admin"), cookie_of("ada")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--headless", "--no-sandbox", "--disable-gpu"],
        )
        hide_the_tour(browser, base, admin)
        pages = {**DESK_PAGES, "review": review_page(), **judging_pages(), **requester_pages()}
        take(browser, base, admin, pages)
        take(browser, base, admin, {name: pages[name] for name in ON_PHONES}, SMALL)
        take_study_link(browser, base, admin)
        open_judging()
        page = signed_in(browser, base, worker)
        visit(page, "/")
        page.screenshot(path=FOLDER / "worker-site.png")
        *others, judging = WORKER_PAGES
        take(browser, base, worker, dict(taken(page, others)), WORKER_LOOKS)
        take(browser, base, worker, {"rewrite": rewrite_page()})
        # Who has a query's other tasks open may not judge the answers to it.
        judge = cookie_of("bruno")
        take(browser, base, judge, dict(taken(signed_in(browser, base, judge), [judging])), WORKER_LOOKS)
        browser.close()


if __name__ == "__main__":
    main()
