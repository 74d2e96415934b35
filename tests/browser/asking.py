"""Task pages that come with their HITs, for browser tests."""

from typing import Any
from xml.etree import ElementTree

from playwright.sync_api import FrameLocator

from marketplace.forms.questions import html_question_xml
from tests.browser.conftest import Lab, Person

ANSWERS = (
    "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd}"
)


def post_html(lab: Lab, html: str, *, height: int = 600, **properties: Any) -> str:
    """Post a HIT with this page; returns its group's id."""
    return lab.post(question=html_question_xml(html, height), **properties)


def task(person: Person) -> FrameLocator:
    """Inside of the task's frame."""
    return person.page.frame_locator("iframe")


def answers(lab: Lab) -> list[dict[str, str]]:
    """Every answer submitted to the lab, field by field, by way of the protocol."""
    found = []
    for hit in lab.account.client.list_hits()["HITs"]:
        for assignment in lab.account.client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]:
            root = ElementTree.fromstring(assignment["Answer"])
            found.append({answer[0].text or "": "".join(answer[1].itertext()) for answer in root})
    return found
