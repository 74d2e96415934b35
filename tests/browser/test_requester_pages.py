"""Pages of requesters that no other walk opens: axe, reflow, targets."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.clients import external_question
from tests.server import RunningServer

pytestmark = pytest.mark.browser
FORMER = "A1OLDID000000"


def test_former_ids_topics_and_files_of_bonuses(
    server: RunningServer,
    administrator: str,
    context_of: Callable[..., BrowserContext],
    tmp_path: Path,
) -> None:
    requester = server.requester()
    rosa, ben = server.worker(country="US"), server.worker(country="US")
    table = tmp_path / "ids.csv"
    table.write_text(f"worker_id,block\n{FORMER},copied\nA1OTHER000000,\n", encoding="utf-8")
    server.console("marketplace", "former-ids", "import", requester.name, str(table))
    for worker in (rosa, ben):
        server.console("marketplace", "former-ids", "state", worker.worker_id, FORMER)
    page = context_of().new_page()
    sign_in(page, administrator)
    page.goto("/desk/")
    page.get_by_role("link", name=requester.name).first.click()
    home = page.url.split("/requester/")[1].split("/")[0]

    page.goto(f"/requester/{home}/mturk-ids/")
    check(page)
    page.get_by_role("link", name="See who").click()
    check(page)
    page.get_by_role("button", name="It is theirs").last.click()
    page.get_by_text("Has the id, as staff decided").wait_for()
    check(page)

    page.goto(f"/requester/{home}/topics/")
    check(page)

    page.goto(f"/requester/{home}/bonuses/")
    check(page)
    file = tmp_path / "bonuses.csv"
    file.write_text("WorkerId,BonusAmount,Reason\nA1,x,\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    page.locator("main form button").first.click()
    check(page)

    hit = requester.client.create_hit(
        **{"Title": "Say it", "Description": "A word", "Reward": "0.25", "Question": external_question()},
        **{"AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 3600},
    )["HIT"]
    dan = server.worker(country="US")
    work = dan.do(hit["HITId"])["assignment_id"]
    file.write_text(f"WorkerId,AssignmentId,BonusAmount,Reason\n{dan.worker_id},{work},0.50,Careful\n")
    page.locator("input[type=file]").set_input_files(file)
    page.locator("main form button").first.click()
    page.wait_for_url("**/files/*/")
    check(page)
