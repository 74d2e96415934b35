"""Templates of our own to begin with, each with a table: text, pictures and a survey, in both styles.

A folder beside this file has `template.html` and `tasks.csv`. In one style a page is an ordinary form, in the
other it is made of `crowd-*` elements.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from marketplace.batches.properties import DAY, MINUTE, Properties

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Sample:
    """One of them; `slug` is its folder."""

    slug: str
    name: str
    what: str
    style: str
    properties: Properties

    @property
    def html(self) -> str:
        """The template."""
        return (_FOLDER / self.slug / "template.html").read_text(encoding="utf-8")

    def table(self) -> BinaryIO:
        """The table, opened."""
        return (_FOLDER / self.slug / "tasks.csv").open("rb")


FORM, CROWD = "an ordinary form", "crowd elements"
_SENTIMENT = Properties(
    title="How does this review sound?",
    description="Read a short review of a product and say whether its writer was pleased.",
    keywords="sentiment, review, text, quick",
    reward_cents=5,
    places=3,
    duration_s=10 * MINUTE,
    lifetime_s=7 * DAY,
    auto_approval_s=3 * DAY,
)
_PICTURES = Properties(
    title="What is in this picture?",
    description="Look at a picture and choose what it shows.",
    keywords="image, picture, choice, quick",
    reward_cents=4,
    places=3,
    duration_s=10 * MINUTE,
    lifetime_s=7 * DAY,
    auto_approval_s=3 * DAY,
)
_SURVEY = Properties(
    title="A survey of five questions about reading",
    description="Tell us what you read, how often, and on what. It takes about three minutes.",
    keywords="survey, reading, opinion",
    reward_cents=60,
    places=20,
    duration_s=30 * MINUTE,
    lifetime_s=14 * DAY,
    auto_approval_s=3 * DAY,
)
SAMPLES = (
    Sample("text", "Mood of a text", "One text, one choice, a line for doubts.", FORM, _SENTIMENT),
    Sample("pictures", "Choice for a picture", "One picture, several answers to tick.", FORM, _PICTURES),
    Sample("survey", "Survey", "Several kinds of questions on one page.", FORM, _SURVEY),
    Sample("text-crowd", "Mood of a text", "A classifier with instructions.", CROWD, _SENTIMENT),
    Sample("pictures-crowd", "Choice for a picture", "A picture and radio buttons.", CROWD, _PICTURES),
    Sample("survey-crowd", "Survey", "Inputs, a slider and a text area.", CROWD, _SURVEY),
)


def named(slug: str) -> Sample | None:
    """The sample of this name."""
    return next((each for each in SAMPLES if each.slug == slug), None)
