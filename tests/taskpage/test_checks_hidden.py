"""Workers cannot tell attention checks from other units, by anything that their browser receives."""

import json
import re
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Callable
from html.parser import HTMLParser
from importlib import import_module

import pytest
from django.apps import apps as all_apps
from django.core import signing
from django.utils import timezone

from crowd.kinds import kind_of, kinds
from crowd.models import Assignment, HitUnit, Stage, Worker
from crowd.services import responses
from crowd.simulation.answers import PROFILES, SimulatedPerson, answer_unit, read_form
from judgments.judging_config import JudgingConfig
from judgments.services.judging import ensure_checks
from judgments.units import of_candidate
from tests.annotation import distilling, world
from tests.judgments import judging_world
from tests.judgments.test_judge_training import LESSONS
from tests.taskpage.world import Visitor, handed_over, make_hit, make_stage

pytestmark = pytest.mark.django_db

#: What a unit or a mark of a check could be called.
TELLTALE = re.compile(r"check:|\bgold|attention|HitUnit|(?:item|query|candidate|lesson):\d", re.IGNORECASE)


def polling() -> tuple[Stage, list[str]]:
    stage = make_stage()
    return stage, ["item:0", "check:0", "item:1"]


def screening() -> tuple[Stage, list[str]]:
    project = world.make_project()
    stage = world.make_stage("screening", project, checks={"facebook": "navigational"})
    queries = [world.unit_of(world.make_query(project)) for _ in range(2)]
    return stage, [queries[0], "check:0", queries[1]]


def curating() -> tuple[Stage, list[str]]:
    project = world.make_project()
    stage = world.make_stage("curation", project)
    queries = [world.make_query(project, status="accepted") for _ in range(2)]
    for query in queries:
        world.make_candidates(query, "It boils at 100 degrees.", "It freezes at 0 degrees.")
    return stage, [world.unit_of(query) for query in queries]


def writing() -> tuple[Stage, list[str]]:
    stage = distilling.make_stage(units_per_hit=2)
    return stage, [
        distilling.of_query(distilling.make_query(stage, f"where is city {number}").pk) for number in range(2)
    ]


def continuing() -> tuple[Stage, list[str]]:
    config = {"checks": {"Are you still there?\nPlease say lantern.": "lantern"}}
    stage = distilling.make_stage(kind="continuation", config=config)
    dialogues = [
        distilling.make_query(stage, f"the {number}th time", (), context=[{"text": "is it late again"}])
        for number in range(2)
    ]
    first, second = (distilling.of_query(dialogue.pk) for dialogue in dialogues)
    return stage, [first, "check:0", second]


def judging() -> tuple[Stage, list[str]]:
    project = judging_world.make_project()
    judging_world.make_topics(project, "unilm", "other")
    stage = judging_world.make_stage(project, checks_per_hit=2)
    checks = [f"check:{pk}" for pk in ensure_checks(stage, JudgingConfig())][:2]
    systems = project.systems.get(name="unilm").candidates.order_by("pk")
    units = [of_candidate(candidate.pk) for candidate in systems[:3]]
    return stage, [units[0], checks[0], units[1], checks[1], units[2]]


def training() -> tuple[Stage, list[str]]:
    stage = make_stage("training", kind="judge-training", config={"lessons": LESSONS})
    return stage, ["lesson:0", "lesson:1"]


def asking() -> tuple[Stage, list[str]]:
    project = judging_world.make_project()
    judging_world.make_topics(project, "unilm", "other")
    gold = [{"unit": "topic-2/other|unilm", "field": "preference", "accepted": ["left"]}]
    config = {"preset": "pairs", "passages": False, "gold": gold}
    stage = judging_world.make_stage(project, kind="questionnaire", config=config, checks_per_hit=1)
    units = list(kind_of(stage).pending(stage))
    return stage, [units[0].unit, *kind_of(stage).checks(stage), units[1].unit]


WORLDS: dict[str, Callable[[], tuple[Stage, list[str]]]] = {
    "poll": polling,
    "screening": screening,
    "curation": curating,
    "distillation": writing,
    "continuation": continuing,
    "judging": judging,
    "judge-training": training,
    "questionnaire": asking,
}


class Skeleton(HTMLParser):
    """What a page is made of without its words: tags, and attributes with places and texts left out."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[list[str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self._inside = True
            self.sections.append([])
        elif self._inside:
            kept = [(name, re.sub(r"\d+", "N", value or "")) for name, value in attrs]
            self.sections[-1].append(f"{tag} {kept}")

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._inside = False


def built_of(page: str) -> list[list[str]]:
    """The skeletons of a page's units."""
    reader = Skeleton()
    reader.feed(page)
    return reader.sections


def test_every_kind_is_looked_at():
    assert {kind.name for kind in kinds()} == set(WORLDS)


@pytest.fixture(params=sorted(WORLDS))
def rosa(request) -> Visitor:
    stage, units = WORLDS[request.param]()
    return Visitor(make_hit(stage, *units))


def test_no_page_of_a_kind_tells_which_units_are_checks(rosa):
    preview = rosa.client.get(f"{rosa.path}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE").content.decode()
    at_work = rosa.open().content.decode()
    to_mend = rosa.send().content.decode()
    for page in (preview, at_work, to_mend):
        assert TELLTALE.findall(page) == []
        skeletons = built_of(page)
        assert len(skeletons) == rosa.hit.units.count()
        if rosa.hit.units.filter(role=HitUnit.Role.CHECK).exists():
            assert all(skeleton == skeletons[0] for skeleton in skeletons)


def test_the_copy_that_travels_with_a_receipt_does_not_tell_either_and_is_read_again(rosa):
    units = dict(rosa.hit.units.values_list("position", "unit"))
    form = read_form(rosa.open().content.decode(), "http://127.0.0.1/")
    form.behind = {str(position): unit for position, unit in units.items()}
    filled: dict[str, str] = {}
    for unit in units.values():
        filled |= answer_unit(
            rosa.hit.stage, form, unit, SimulatedPerson(1, PROFILES["diligent"], 7), attempt=2
        )
    _, sent = handed_over(rosa.client.post(rosa.path, {"ticket": rosa.ticket(), **filled}))
    copy = signing.Signer(salt="crowd.receipt").unsign(sent["copy"]).partition(".")[2]
    assert set(json.loads(zlib.decompress(urlsafe_b64decode(copy)))) == {f"#{place}" for place in units}
    assert set(rosa.row.response) == set(units.values())
    assert responses.read_copy(sent, rosa.row) == rosa.row.response


def test_a_copy_from_before_still_names_the_units(monkeypatch):
    stage, units = polling()
    rosa = Visitor(make_hit(stage, *units))
    rosa.open()
    said = {unit: {"choice": "Red"} for unit in units}
    responses.store_response(rosa.row, said, at=timezone.now())
    monkeypatch.setattr(responses, "_places", lambda assignment: [])
    old = responses.receipt_fields(rosa.row)
    monkeypatch.undo()
    assert responses.read_copy(old, rosa.row) == said


def test_a_page_that_was_open_across_the_change_is_saved_and_taken():
    stage, _ = polling()
    rosa = Visitor(make_hit(stage, "item:0", "check:0"))
    ticket = rosa.ticket()
    rosa.save(ticket, {"item:0|choice": "Blue", "|shortcuts": "off"})
    assert rosa.row.draft == {"0|choice": "Blue", "|shortcuts": "off"}
    handed_over(
        rosa.client.post(
            rosa.path, {"ticket": ticket, "item:0|choice": "Blue", "check:0|choice": "Red", "strange|x": "y"}
        )
    )
    assert rosa.row.response == {"item:0": {"choice": "Blue"}, "check:0": {"choice": "Red"}}


def test_drafts_from_before_name_their_fields_by_places():
    stage, units = polling()
    hit = make_hit(stage, *units)
    worker = Worker.objects.create(endpoint=stage.endpoint, external_id="A1", first_seen_at=timezone.now())
    row = Assignment.objects.create(
        stage=stage,
        hit=hit,
        worker=worker,
        external_id="3OLD",
        arrived_at=timezone.now(),
        draft={"check:0|choice": "Red", "item:1|+first": "2", "|shortcuts": "on", "2|choice": "Blue"},
    )
    import_module("crowd.migrations.0002_places_in_drafts").name_by_place(all_apps, None)
    row.refresh_from_db()
    assert row.draft == {"1|choice": "Red", "2|+first": "2", "|shortcuts": "on", "2|choice": "Blue"}


def test_simulated_readers_agree_about_a_unit_wherever_it_stands(monkeypatch):
    stage, units = polling()
    monkeypatch.setattr(type(kind_of(stage)), "simulate", lambda *_: None)
    meant = set()
    for number, order in enumerate((units, units[::-1])):
        who = Visitor(
            make_hit(stage, *order, external_id=f"3H{number}"), assignment=f"3A{number}", worker=f"A{number}"
        )
        form = read_form(who.open().content.decode(), "http://127.0.0.1/")
        form.behind = {str(place): unit for place, unit in enumerate(order)}
        filled = answer_unit(stage, form, "item:1", SimulatedPerson(1, PROFILES["diligent"], 7), attempt=2)
        meant.add(tuple(filled.values()))
    assert len(meant) == 1
