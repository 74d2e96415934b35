"""The requester's side in a browser: batches from templates and tables, and jobs that a worker would do."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import FrameLocator, Page

from tests.browser.campaign import Campaign
from tests.server import RunningServer


@dataclass(frozen=True)
class Desk:
    """Somebody who runs a requester, in front of its pages."""

    page: Page
    server: RunningServer
    customer_id: str

    def go(self, path: str) -> None:
        """Open a page of the requester."""
        self.page.goto(f"/requester/{self.customer_id}/{path}")

    def make_template(self, html: str, name: str = "Mine") -> None:
        """A template of one's own."""
        self.go("templates/new/")
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label("Task page").fill(html)
        self.page.get_by_label("Title").fill("Say what you see")
        self.page.get_by_label("Description").fill("One short answer.")
        self.page.get_by_role("button", name="Save").click()

    def make_batch(self, table: str, template: str = "Mine") -> None:
        """Upload a table for a template."""
        self.go("batches/new/")
        self.page.get_by_label("Template").select_option(label=template)
        self.upload("Table", "tasks.csv", table)
        self.page.get_by_role("button", name="Read the table").click()

    def make_draft(self, html: str, table: str) -> str:
        """Of a new template and a table, past the forms for both; where its page is."""
        named = {"customer_id": self.customer_id, "html": html, "table": table}
        number: int = self.server.call("tests.browser.batching", "draft", **named)
        return f"batches/{number}/"

    def upload(self, label: str, name: str, text: str) -> None:
        """Choose a file."""
        file: Any = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
        self.page.get_by_label(label, exact=True).set_input_files(file)

    def publish(self, total: str) -> None:
        """Type the total, publish, and let a worker do it."""
        self.page.get_by_label("Type the total to publish").fill(total)
        self.page.get_by_role("button", name="Publish").click()
        self.page.wait_for_load_state()
        self.run_jobs()

    def run_jobs(self) -> None:
        """Do what waits for a worker."""
        Campaign(self.server).run_jobs()

    @property
    def task(self) -> FrameLocator:
        """Inside of the frame of a preview."""
        return self.page.frame_locator("iframe")


def _draft(*, customer_id: str, html: str, table: str) -> int:
    from marketplace.models import Requester
    from tests.batches import making

    requester = Requester.objects.get(customer_id=customer_id)
    batch = making.draft(
        requester, table, html=html, title="Say what you see", description="One short answer."
    )
    return batch.number


COMMANDS = {"draft": _draft}
