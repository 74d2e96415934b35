"""From nothing to a project with its drafts, in a browser without scripts."""

import tomllib
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from core.projects.models import Event, Membership, Project
from core.projects.services import create_project
from crowd.desk.beginnings import beginnings
from crowd.models import Endpoint, Hit, MarketOperation, PanelStudy, Stage
from crowd.services.endpoints import create_endpoint

pytestmark = pytest.mark.django_db

NEW = "/desk/new-project/"
EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


@pytest.fixture
def somebody(as_, people, project):
    """An administrator, who may make projects and use every marketplace."""
    User.objects.filter(username="manager").update(is_staff=True)
    return as_("manager")


def sent(client, beginning, step="make", **changes):
    """What a browser sends when somebody changes these fields and presses a button."""
    form = client.get(f"{NEW}?from={beginning}").context["form"]
    data = {name: form[name].value() for name in form.fields}
    data = {name: "on" if value is True else value for name, value in data.items() if value}
    data |= {"from": beginning, "step": step, "title": "Tides", "slug": "tides", "budget": "900.00"}
    data |= changes
    return {name: value for name, value in data.items() if value is not None}


def upload(client, text, name="study.toml"):
    content = text if isinstance(text, bytes) else text.encode()
    return client.post(NEW, {"from": "file", "step": "upload", "study": SimpleUploadedFile(name, content)})


def counts():
    return (Project.objects.count(), Stage.objects.count(), Event.objects.count(), Membership.objects.count())


def test_the_beginnings_are_listed_and_their_texts_made_of_the_terms(somebody, endpoint):
    page = somebody.get(NEW).content.decode()
    names = [each.name for each in beginnings()]
    assert names == ["reference", "class", "kpqa", "adem", "dialogues", "empty"]
    assert "Screening, Curation, Distillation" in " ".join(page.split())
    assert "You bring: Queries, as a log" in page
    assert 'type="file"' in page
    form = somebody.get(f"{NEW}?from=reference").context["form"]
    # five queries and a check, of which workers cannot tell that it is one
    assert form["0.task.title"].value() == "Look at up to 6 search queries (about 1.5 minutes)"
    assert form["1.task.description"].value().startswith("Up to 10 short passages; choose the one")
    assert "Write" in form["2.config.instructions"].value()
    assert form["2.task.title"].field.widget.input_type == "text"
    page = " ".join(somebody.get(f"{NEW}?from=reference").content.decode().split())
    assert "<strong>$216.00</strong> for every 1,000 units: 200 HITs, 600 assignments" in page
    assert "$12.00/h" in page  # 30 cents for a minute and a half
    page = somebody.post(NEW, sent(somebody, "reference", "cost", **{"0.reward": "0.10"})).content.decode()
    assert "$4.00/h</strong>, below the floor of $10.00/h" in " ".join(page.split())
    assert "A fair reward would be $0.25 or more." in page
    assert not Project.objects.filter(slug="tides").exists()
    page = somebody.get(f"{NEW}?from=kpqa").content.decode()  # a training is reckoned for its examples
    assert "<strong>$120.00</strong> for all 3 units: 23 HITs, 200 assignments" in " ".join(page.split())


def test_a_class_study_is_made_at_once_on_study_links_and_says_nothing_of_money(somebody, endpoint):
    create_endpoint(name="links", preset="link", access_key="", secret="")
    page = somebody.get(f"{NEW}?from=class").content.decode()
    assert "not paid" in page and "below the floor" not in page
    assert somebody.post(NEW, sent(somebody, "class", "make", budget="0.00")).status_code == 302
    stages = Stage.objects.filter(project__slug="tides").order_by("pk")
    assert list(stages.values_list("kind", "endpoint__name", "reward_cents", "budget_cents")) == [
        (kind, "links", 0, 0) for kind in ("curation", "distillation", "judging")
    ]


def test_reference_answers_make_a_project_with_three_drafts_and_their_owner(somebody, endpoint, people):
    answer = somebody.post(NEW, sent(somebody, "reference"))
    assert answer.headers["Location"] == "/desk/projects/tides/"
    made = Project.objects.get(slug="tides")
    assert (made.title, made.budget_cents, made.language) == ("Tides", 90_000, "en")
    assert made.memberships.get().user == people["manager"]
    assert made.memberships.get().role == "owner"
    stages = list(made.stages.order_by("pk"))
    assert [stage.kind for stage in stages] == ["screening", "curation", "distillation"]
    assert {stage.status for stage in stages} == {"draft"}
    assert {stage.endpoint for stage in stages} == {endpoint}
    assert not MarketOperation.objects.exists() and not Hit.objects.exists()
    assert set(made.events.values_list("actor__username", flat=True)) == {"manager"}


@pytest.mark.parametrize(
    "name",
    ["kpqa", "dialogues", *(pytest.param(each, marks=pytest.mark.long) for each in ("reference", "adem"))],
)
def test_what_the_wizard_makes_is_a_study_that_the_command_takes_unchanged(
    somebody, endpoint, tmp_path, name
):
    review = somebody.post(NEW, sent(somebody, name, "review"))
    assert review.status_code == 200
    assert not Project.objects.filter(slug="tides").exists()
    file = tmp_path / "study.toml"
    file.write_text(review.context["text"])
    somebody.post(NEW, sent(somebody, name))
    said = StringIO()
    call_command("study", "check", str(file), stdout=said)
    assert "nothing to change" in said.getvalue()


def test_a_stage_has_the_reward_people_and_budget_that_were_entered_or_a_share_of_the_projects(
    somebody, endpoint
):
    changes = {"0.reward": "0.45", "0.redundancy": "5", "0.units_per_hit": "10", "0.budget": "33.00"}
    somebody.post(NEW, sent(somebody, "reference", slug="rivers", **changes))
    made = Stage.objects.get(slug="screening")
    assert (made.reward_cents, made.redundancy, made.units_per_hit, made.budget_cents) == (45, 5, 10, 3300)
    somebody.post(NEW, sent(somebody, "reference"))
    shares = dict(Stage.objects.filter(project__slug="tides").values_list("slug", "budget_cents"))
    # 1,000 queries with fees: 216.00 for screening, 600.00 for curation, 9,600.00 for distillation
    assert shares == {"screening": 1866, "curation": 5184, "distillation": 82949}
    assert sum(shares.values()) <= 90_000


@pytest.mark.long
def test_people_come_from_several_places_with_equal_parts(somebody, endpoint):
    create_endpoint(name="links", preset="link", access_key="", secret="")
    create_endpoint(name="pounds", preset="link", access_key="", secret="", currency="GBP")
    chosen = {"endpoint": endpoint.name, "also": ["links", endpoint.name]}
    review = somebody.post(NEW, sent(somebody, "reference", "review", **chosen))
    assert review.status_code == 200
    assert "People from" in review.content.decode()
    assert '<input type="hidden" name="also" value="links"' in review.content.decode()
    somebody.post(NEW, sent(somebody, "reference", **chosen))
    for stage in Stage.objects.filter(project__slug="tides"):
        rows = stage.sources.order_by("position").values_list("endpoint__name", "share")
        assert list(rows) == [(endpoint.name, 1), ("links", 1)]


@pytest.mark.long
def test_texts_that_were_left_as_made_follow_units_and_minutes_into_review_and_stage(somebody, endpoint):
    changes = {"0.units_per_hit": "10", "0.expected_minutes": "4"}
    title = "Look at up to 11 search queries (about 4 minutes)"
    page = somebody.post(NEW, sent(somebody, "reference", "review", **changes)).content.decode()
    assert f"<bdi>{title}</bdi>" in page
    assert not Project.objects.filter(slug="tides").exists()
    somebody.post(NEW, sent(somebody, "reference", **changes))
    made = Stage.objects.get(slug="screening")
    assert (made.task_title, made.task_keywords) == (title, "queries, reading, short")


@pytest.mark.long
def test_texts_follow_again_after_the_cost_was_worked_out(somebody, endpoint):
    first = sent(somebody, "reference", "cost", **{"0.units_per_hit": "10"})
    form = somebody.post(NEW, first).context["form"]
    assert form["0.task.title"].value() == "Look at up to 11 search queries (about 1.5 minutes)"
    drawn = {name: form[name].value() for name in form.fields}
    again = {name: value for name, value in drawn.items() if value} | {"from": "reference", "step": "make"}
    somebody.post(NEW, again | {"0.units_per_hit": "3"})
    assert Stage.objects.get(slug="screening").task_title.startswith("Look at up to 4 search queries")


@pytest.mark.long
def test_texts_and_instructions_that_a_person_wrote_stay(somebody, endpoint):
    written = {
        "0.task.title": "Say what people look for",
        "0.units_per_hit": "10",
        "1.task.title": "",
        "2.config.instructions": "Write one line.\r\nNo more.",
    }
    somebody.post(NEW, sent(somebody, "reference", **written))
    made = Stage.objects.get(slug="screening")
    assert made.task_title == "Say what people look for"
    assert Stage.objects.get(slug="curation").task_title, "a text that is emptied is made again"
    assert Stage.objects.get(slug="distillation").config["instructions"] == "Write one line.\nNo more."


@pytest.mark.long
def test_a_stage_that_is_left_out_takes_rules_about_it_along(somebody, endpoint):
    somebody.post(NEW, sent(somebody, "kpqa", **{"0.keep": None}))
    made = Stage.objects.get(project__slug="tides")
    assert [rule["kind"] for rule in made.eligibility] == ["approval_rate"]


def test_without_a_short_name_it_is_made_of_the_title(somebody, endpoint):
    somebody.post(NEW, sent(somebody, "empty", slug="", title="Tides & Moons"))
    assert Project.objects.get(slug="tides-moons").stages.count() == 0


def test_a_mistake_stands_beside_its_field_and_nothing_is_made(somebody, endpoint):
    entered, before = sent(somebody, "reference"), counts()
    for changes, field, words in [
        ({"title": ""}, "title", "missing"),
        ({"slug": "two words"}, "slug", ""),
        ({"slug": "reading"}, "slug", "already a project"),
        ({"budget": "much"}, "budget", "Write an amount with two decimals"),
        ({"language": "english!"}, "language", ""),
        ({"endpoint": "nowhere"}, "endpoint", "valid choice"),
        ({"0.reward": "ten"}, "0.reward", "Write an amount with two decimals"),
        ({"0.reward": ""}, "0.reward", "missing"),
        ({"1.redundancy": "0"}, "1.redundancy", "at least 1"),
        ({"2.budget": "-5"}, "2.budget", "negative"),
        ({"0.expected_minutes": "2.55"}, "0.expected_minutes", "one decimal"),
        ({"0.task.title": "x" * 129}, "0.task.title", "at most 128"),
        ({"1.config.instructions": "x" * 5001}, "1.config.instructions", "at most 5000"),
    ]:
        answer = somebody.post(NEW, entered | changes)
        errors = answer.context["form"].errors
        assert (answer.status_code, list(errors)) == (422, [field]), changes
        assert words in str(errors[field])
        assert counts() == before
    assert somebody.post(NEW, entered | {"step": "review", "title": ""}).status_code == 422
    assert counts() == before


@pytest.mark.long
def test_mistakes_in_stages_that_are_left_out_do_not_matter(somebody, endpoint):
    changes = {"0.keep": None, "0.reward": "0.30", "0.redundancy": "0"}
    assert somebody.post(NEW, sent(somebody, "reference", **changes)).status_code == 302


def test_the_review_leads_back_with_everything_that_was_entered(somebody, endpoint):
    data = sent(somebody, "reference", "review", **{"0.reward": "0.77", "1.keep": None})
    hidden = somebody.post(NEW, data).context["form"]
    again = {name: hidden[name].value() for name in hidden.fields}
    back = somebody.post(NEW, {**data, **{k: v for k, v in again.items() if v}, "step": "change"})
    assert back.context["form"]["0.reward"].value() == "0.77"
    assert not back.context["form"]["1.keep"].value()


def test_without_a_marketplace_only_an_empty_project_can_be_made(somebody):
    assert "crowd endpoint add" in somebody.get(f"{NEW}?from=reference").content.decode()
    review = somebody.post(NEW, {**sent(somebody, "empty"), "step": "review"})
    assert "Make the project" in review.content.decode()
    assert somebody.post(NEW, sent(somebody, "empty")).status_code == 302


@pytest.mark.long
@pytest.mark.parametrize("name", ["poll.toml", "answers.toml", "judging.toml"])
def test_the_examples_can_be_uploaded_and_made(somebody, endpoint, name):
    text = (EXAMPLES / name).read_text()
    shown = upload(somebody, text)
    assert shown.status_code == 200
    form = shown.context["form"]
    data = {field: form[field].value() for field in form.fields if form[field].value() not in (None, False)}
    made = somebody.post(NEW, {**data, "from": "file", "text": text, "step": "make"})
    assert made.status_code == 302
    wanted = tomllib.loads(text)
    project = Project.objects.get(slug=wanted["project"]["slug"])
    stages = list(project.stages.order_by("pk"))
    assert [stage.slug for stage in stages] == [stage["slug"] for stage in wanted["stages"]]
    assert [
        {"title": stage.task_title, "description": stage.task_description, "keywords": stage.task_keywords}
        for stage in stages
    ] == [stage["task"] for stage in wanted["stages"]]


def test_terms_of_a_panel_are_taken_from_a_file_where_the_chosen_marketplace_is_at_prolific(
    somebody, endpoint
):
    text = (EXAMPLES / "poll.toml").read_text()
    text = text.replace("endpoints.local", "endpoints.mine").replace('= "local"', '= "prolific"')
    text = text.replace('endpoint = "prolific"', 'endpoint = "mine"')
    text += '\n[stages.panel]\nscreen_out = "0.05"\nscreen_outs = 3\n'
    shown = upload(somebody, text)
    assert shown.status_code == 200
    panel = Endpoint.objects.create(
        name="panel", label="Panel", url="https://api.prolific.com", protocol="prolific", real_money=False,
        created_at=endpoint.created_at,
    )  # fmt: skip
    form = upload(somebody, text).context["form"]
    data = {field: form[field].value() for field in form.fields if form[field].value() not in (None, False)}
    data |= {"from": "file", "text": text, "step": "make"}
    refused = somebody.post(NEW, data | {"endpoint": endpoint.name})
    assert "First look: No endpoint of the stage is at Prolific." in refused.content.decode()
    assert somebody.post(NEW, data | {"endpoint": panel.name}).status_code == 302
    study = PanelStudy.objects.get(stage__project__slug="warm-drinks")
    assert (study.screen_out_cents, study.screen_out_slots, study.pays_in_part) == (5, 3, False)


def test_mistakes_in_a_file_are_named_with_line_and_field(somebody, endpoint):
    text = (EXAMPLES / "answers.toml").read_text()
    line = next(n for n, words in enumerate(text.splitlines(), 1) if words.startswith("redundancy = 3 "))
    before = counts()
    answer = upload(somebody, text.replace("redundancy = 3 ", "redundancy = 0 "))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert f"line {line}</span>" in page and "stages[0].redundancy" in page
    assert "it must be at least 1" in page
    assert counts() == before


def test_what_is_no_study_is_refused_in_words(somebody):
    for content, words in (
        (b"", "project"),
        (b"\xff\xfe", "no UTF-8"),
        (b"[project", "no TOML"),
        (b"# " + b"x" * 500_001, "larger than 500 kB"),
    ):
        answer = upload(somebody, content)
        assert (answer.status_code, words in answer.content.decode()) == (422, True), words
    answer = somebody.post(NEW, {"from": "file", "step": "upload"})
    assert answer.status_code == 422
    assert "no file was chosen" in answer.content.decode()


def test_an_upload_sets_up_no_marketplace_reads_no_keys_and_changes_nobody_elses_project(
    somebody, endpoint, people, monkeypatch
):
    theirs = create_project(slug="theirs", title="Theirs", owner=people["stranger"], budget_cents=500)
    text = (
        '[project]\nslug = "theirs"\ntitle = "Mine now"\nbudget = "1.00"\nmembers = { manager = "owner" }\n'
    )
    shown = upload(somebody, text)
    assert "Theirs" not in shown.content.decode()
    data = {"from": "file", "text": text, "step": "make", "title": "Mine now", "slug": "theirs"}
    answer = somebody.post(NEW, data | {"budget": "1.00", "language": "en", "wage_floor": "10.00"})
    assert answer.status_code == 422
    theirs.refresh_from_db()
    assert (theirs.title, theirs.budget_cents, theirs.memberships.count()) == ("Theirs", 500, 1)
    text = '[project]\nslug = "x"\ntitle = "X"\nbudget = "1.00"\nmembers = { strange = "viewer" }\n'
    page = upload(somebody, text).content.decode()
    assert "there is no user" in page
    assert "stranger" not in page and "owner2" not in page
    monkeypatch.setenv("DJANGO_SECRET_KEY", "do not tell")
    text = (
        '[project]\nslug = "theft"\ntitle = "T"\nbudget = "1.00"\n'
        '[endpoints.mine]\nurl = "https://example.org/api"\n'
        'access_key_env = "DJANGO_SECRET_KEY"\nsecret_key_env = "DJANGO_SECRET_KEY"\n'
    )
    page = upload(somebody, text)
    assert "marketplaces (mine) are not taken from it" in page.content.decode()
    data = {"from": "file", "text": text, "step": "make", "title": "T", "slug": "theft", "budget": "1.00"}
    assert somebody.post(NEW, data | {"language": "en", "wage_floor": "10.00"}).status_code == 302
    assert list(Endpoint.objects.values_list("name", flat=True)) == ["local"]


@pytest.mark.long
def test_the_scale_of_judging_is_chosen_where_the_project_begins(somebody, endpoint):
    form = somebody.get(f"{NEW}?from=kpqa").context["form"]
    assert [value for value, _ in form["1.config.scale"].field.choices] == [
        "labels",
        "halves",
        "slider",
        "numbers",
    ]
    chosen = {"1.config.scale": "slider", "1.config.scale_step": "2.5", "1.config.labels": "bad\ngood"}
    somebody.post(NEW, sent(somebody, "kpqa", **chosen))
    config = Stage.objects.get(slug="judging").config
    assert (config["scale"], config["scale_step"], config["labels"]) == ("slider", 2.5, ["bad", "good"])


def test_a_scale_or_place_that_cannot_be_is_said_in_the_form_and_makes_nothing(somebody, endpoint):
    chosen = {"1.config.scale": "slider", "1.config.scale_step": "7"}
    page = somebody.post(NEW, sent(somebody, "kpqa", **chosen))
    assert "steps of 7 do not lead from 0 to 100" in page.content.decode()
    assert not Project.objects.filter(slug="tides").exists()
    create_endpoint(name="pounds", preset="link", access_key="", secret="", currency="GBP")
    answer = somebody.post(NEW, sent(somebody, "reference", endpoint=endpoint.name, also=["pounds"]))
    assert answer.status_code == 422
    assert "currency" in str(answer.context["form"].errors["also"])
    assert not Project.objects.filter(slug="tides").exists()
