"""The form of a stage: rows for lists, folded options, the cost before anything is kept."""

import pytest

from crowd.desk.stageform import StageForm
from crowd.kinds import kind_named
from crowd.models import Hit, Stage
from tests.desk.conftest import at
from tests.desk.test_pages import form_data
from tests.saving import save

pytestmark = pytest.mark.django_db

NEW = "/desk/projects/reading/new-stage/"
LESSON = {
    "config.lessons-0-question": "how long is the danube",
    "config.lessons-0-answer": "2,850 km",
    "config.lessons-0-correct": "",
    "config.lessons-0-passage": "",
    "config.lessons-0-accepted": "4, 5",
    "config.lessons-0-reason": "It is right.",
}


def rowwise(**changes):
    """A poll with its checks and rules entered row by row."""
    rows = {
        "config.checks-0-key": "say tea",
        "config.checks-0-value": "tea",
        "config.checks-1-key": "",
        "config.checks-1-value": "",
        "eligibility-0-kind": "country",
        "eligibility-0-op": "In",
        "eligibility-0-values": "US, DE",
        "eligibility-0-hide": "preview",
        "eligibility-1-kind": "",
        "eligibility-1-op": "",
        "eligibility-1-values": "",
        "eligibility-1-hide": "accept",
    }
    data = form_data(**rows) | changes
    del data["config.checks"], data["eligibility"]
    return data


def training(**changes):
    data = {
        name: value for name, value in form_data().items() if not name.startswith(("config.", "eligibility"))
    }
    return data | LESSON | {"slug": "training"} | changes


@pytest.mark.long
def test_rules_and_checks_are_entered_row_by_row_and_stand_in_the_form(owner, project, endpoint):
    assert owner.post(f"{NEW}?kind=poll", rowwise()).status_code == 302
    made = Stage.objects.get()
    assert made.config["checks"] == {"say tea": "tea"}
    assert made.eligibility == [{"kind": "country", "op": "In", "values": ["US", "DE"], "hide": "preview"}]
    page = owner.get(at("edit_stage", Stage.objects.get())).content.decode()
    assert 'name="config.checks-0-key" value="say tea"' in page
    assert 'name="config.checks-2-key"' in page and 'name="config.checks-3-key"' not in page
    assert 'value="US, DE"' in page
    assert "Another one" in page


@pytest.mark.long
def test_a_nested_table_has_a_field_for_each_of_its_parts(owner, project, endpoint):
    answer = owner.post(f"{NEW}?kind=judge-training", training())
    assert answer.status_code == 302
    assert Stage.objects.get().config["lessons"][0]["accepted"] == [4, 5]
    assert Stage.objects.get().config["lessons"][0]["correct"] == ""


def test_a_mistake_in_a_row_names_the_row(owner, project, endpoint):
    for field, entered, words in (
        ("config.lessons-0-question", "", "Row 1, question: this is missing"),
        ("config.lessons-0-accepted", "four", "Row 1, accepted, row 1"),
        ("config.lessons-0-accepted", "9", "Example 1 accepts a score that is not on the scale"),
    ):
        answer = owner.post(f"{NEW}?kind=judge-training", training(**{field: entered}))
        assert answer.status_code == 422
        assert words in str(answer.context["form"].errors)
        assert "It is right." in answer.content.decode()
    twice = {"config.checks-1-key": "say tea", "config.checks-1-value": "milk"}
    answer = owner.post(f"{NEW}?kind=poll", rowwise(**twice))
    assert "is in two rows" in str(answer.context["form"].errors["config.checks"])
    assert not Stage.objects.exists()


def test_rare_options_are_folded_and_every_option_stands_once():
    groups = {group.heading: group for group in StageForm(kind=kind_named("distillation")).groups()}
    assert list(groups) == [
        "What is asked", "People and pay", "Texts for workers", "In other languages", "Who may work",
        "Checks and approval", "Rare options",
    ]  # fmt: skip
    folded = [field.name for field in groups["Rare options"].fields]
    assert "config.copy_share" in folded and "seed" in folded and "config.longest" not in folded
    assert groups["Rare options"].folded and not groups["Rare options"].wrong
    form = StageForm({"seed": "no number"}, kind=kind_named("distillation"))
    form.is_valid()
    assert [group.heading for group in form.groups() if group.folded and group.wrong] == ["Rare options"]
    for name in ("poll", "screening", "curation", "distillation", "judging", "judge-training"):
        form = StageForm(kind=kind_named(name))
        shown = [field.name for group in form.groups() for field in group.fields]
        assert sorted(shown) == sorted(field.name for field in form.visible_fields()), name


def drawn(client, page):
    """What the form of a page would send as it is drawn."""
    form = client.get(page).context["form"]
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in values.items() if value not in (None, "", False, [])}


def screening(client, **changes):
    entered = {"slug": "screening", "endpoint": "local", "budget": "5.00"} | changes
    return client.post(f"{NEW}?kind=screening", drawn(client, f"{NEW}?kind=screening") | entered)


@pytest.mark.long
def test_a_new_stage_begins_with_usual_terms_and_texts_made_of_them(owner, project, endpoint):
    for kind, reward, redundancy, title in [
        ("poll", "0.10", 10, "Choose an answer to a short question (less than a minute)"),
        ("screening", "0.30", 3, "Look at up to 5 search queries (about 1.5 minutes)"),
        ("curation", "0.50", 1, "Choose the passages that answer a query (about 3 minutes)"),
        ("distillation", "0.40", 20, "Answer a question in your own words (about 2 minutes)"),
        ("judging", "0.15", 10, "Judge an answer to a question (less than a minute)"),
        ("judge-training", "0.50", 200, "Learn to judge answers (about 3 minutes)"),
    ]:
        form = owner.get(f"{NEW}?kind={kind}").context["form"]
        assert (form["reward"].value(), form["redundancy"].value()) == (reward, redundancy), kind
        assert form["task.title"].value() == title
        assert form["title"].value() and form["task.description"].value()


def test_a_short_name_is_made_of_the_title_and_the_draft_leads_on_to_its_cost(owner, project, endpoint):
    for made in ("screening", "screening-2"):
        answer = screening(owner, slug="", step="open")
        assert answer.status_code == 302 and answer.url.endswith(f"/stages/{made}/open/")
    assert screening(owner, slug="", title="筛选").status_code == 302  # nothing of it can be in an address
    slugs = Stage.objects.order_by("pk").values_list("slug", flat=True)
    assert list(slugs) == ["screening", "screening-2", "screening-3"]


def test_the_workers_page_is_shown_with_what_is_entered_and_keeps_nothing(owner, project, endpoint):
    page = f"{NEW}?kind=poll"
    answer = owner.post(page, form_data(step="preview", **{"config.question": "Which drink is it?"}))
    assert answer.status_code == 200
    assert answer["X-Frame-Options"] == "SAMEORIGIN"
    shown = answer.content.decode()
    assert "Which drink is it?" in shown and 'class="all" disabled' in shown
    wrong = owner.post(page, form_data(step="preview", redundancy="many")).content.decode()
    assert "No preview now" in wrong
    assert not Stage.objects.exists()


def test_a_preview_of_a_stage_that_is_there_changes_nothing_of_it(owner, stage):
    place = at("edit_stage", stage)
    sent = drawn(owner, place) | {"config.question": "Which drink is it?", "step": "preview"}
    assert "Which drink is it?" in save(owner, place, sent).content.decode()
    assert Stage.objects.get().config["question"] == stage.config["question"]


@pytest.mark.long
def test_made_texts_follow_what_is_entered_and_show_it_before_anything_is_kept(owner, project, endpoint):
    changes = {"units_per_hit": "8", "checks_per_hit": "1", "expected_minutes": "2"}
    page = screening(owner, step="cost", **changes).content.decode()
    assert 'value="Look at up to 9 search queries (about 2 minutes)"' in page
    assert not Stage.objects.exists()
    assert screening(owner, **changes).status_code == 302
    assert Stage.objects.get().task_title == "Look at up to 9 search queries (about 2 minutes)"


@pytest.mark.long
def test_made_texts_of_a_stage_follow_and_written_ones_stay(owner, project, endpoint):
    screening(owner, **{"task.description": "Look, and say."})
    place = at("edit_stage", Stage.objects.get())
    save(owner, place, drawn(owner, place) | {"units_per_hit": "1", "expected_minutes": ""})
    stage = Stage.objects.get()
    assert (stage.task_title, stage.task_description) == ("Look at a search query", "Look, and say.")


def test_a_form_without_the_hidden_copies_follows_the_terms_that_are_stored(owner, project, endpoint):
    screening(owner)
    place = at("edit_stage", Stage.objects.get())
    sent = {name: value for name, value in drawn(owner, place).items() if not name.startswith("made.")}
    save(owner, place, sent | {"units_per_hit": "2"})
    assert Stage.objects.get().task_title == "Look at up to 2 search queries (about 1.5 minutes)"


def test_minutes_that_are_guessed_before_opening_change_the_title_too(owner, project, endpoint):
    screening(owner)
    stage = Stage.objects.get()
    save(owner, at("opening", stage), {"minutes": "3"}, to=at("expect", stage))
    assert Stage.objects.get().task_title == "Look at up to 5 search queries (about 3 minutes)"
    Stage.objects.update(task_title="My own")
    save(owner, at("opening", stage), {"minutes": "4"}, to=at("expect", stage))
    assert Stage.objects.get().task_title == "My own"


def test_texts_that_people_work_under_do_not_follow(owner, project, endpoint):
    screening(owner)
    Stage.objects.update(status="open", opened_at="2026-01-01T00:00:00Z")
    stage = Stage.objects.get()
    Hit.objects.create(stage=stage, ordinal=1, places=1, reward_cents=1, fee_cents=0)
    place = at("edit_stage", stage)
    save(owner, place, drawn(owner, place) | {"expected_minutes": "9"})
    stage.refresh_from_db()
    assert stage.expected_seconds == 540
    assert stage.task_title == "Look at up to 5 search queries (about 1.5 minutes)"


def test_working_out_the_cost_stores_nothing_and_keeps_what_was_entered(owner, project, endpoint):
    answer = owner.post(f"{NEW}?kind=poll", form_data(step="cost", expected_minutes="2.0", title="Half done"))
    assert answer.status_code == 200
    page = answer.content.decode()
    # two items in one HIT, three people, ten cents and the fee of a fifth
    assert "<strong>$0.36</strong> for all 2 units: 1 HIT, 3 assignments" in " ".join(page.split())
    assert "$3.00/h</strong>, below the floor of $10.00/h" in " ".join(page.split())
    assert 'value="Half done"' in page
    assert not Stage.objects.exists()


def test_the_cost_of_a_stage_that_is_there_stands_in_its_form(owner, stage):
    page = owner.get(at("edit_stage", stage)).content.decode()
    assert "for all 2 units: 2 HITs, 6 assignments" in " ".join(page.split())
    owner.post(at("edit_stage", stage), {"step": "cost", "title": "Another"})
    assert Stage.objects.get().title == "A poll"


def test_options_that_are_fixed_cannot_be_entered_in_rows_either(owner, stage):
    Stage.objects.update(status="open", opened_at="2026-01-01T00:00:00Z")
    Hit.objects.create(stage=stage, ordinal=1, places=1, reward_cents=1, fee_cents=0)
    page = owner.get(at("edit_stage", stage)).content.decode()
    row = page.split('name="config.checks-0-key"')[1].split(">")[0]
    assert "disabled" in row
    assert 'name="config.checks-1-key"' not in page


def test_budgets_that_go_beyond_the_projects_are_cautioned_on_the_form_and_when_it_is_saved(
    owner, project, endpoint, stage
):
    project.budget_cents = 5000
    project.save()
    Stage.objects.update(budget_cents=4000)
    place = "/desk/projects/reading/new-stage/?kind=poll"
    assert "The other stages have $40.00 of the project's $50.00." in owner.get(place).content.decode()
    page = owner.post(place, form_data() | {"budget": "20.00", "step": "cost"}).content.decode()
    assert "budgets are $60.00 together, more than the project&#x27;s $50.00" in page
    fine = owner.post(place, form_data() | {"budget": "10.00", "slug": "second"}, follow=True)
    assert not any("together" in str(message) for message in fine.context["messages"])
    saved = owner.post(place, form_data() | {"budget": "20.00", "slug": "third"}, follow=True)
    assert any("$70.00 together" in str(message) for message in saved.context["messages"])


def test_the_form_of_a_judging_stage_offers_scales_in_words_and_keeps_what_was_chosen(
    owner, project, endpoint
):
    page = f"{NEW}?kind=judging"
    html = owner.get(page).content.decode()
    assert "A slider, 0 to 100 or between ends of your own" in html
    entered = {"slug": "judging", "endpoint": "local", "budget": "5.00"}
    entered |= {"config.scale": "slider", "config.scale_step": "0.5", "config.labels": "bad\ngood"}
    assert owner.post(page, drawn(owner, page) | entered).status_code == 302
    config = Stage.objects.get().config
    assert (config["scale"], config["scale_step"], config["labels"]) == ("slider", 0.5, ["bad", "good"])
    shown = owner.get(at("edit_stage", Stage.objects.get())).context["form"]
    assert shown["config.scale"].value() == "slider"


@pytest.mark.long
def test_known_answers_of_a_slider_take_ranges_in_a_row(owner, project, endpoint):
    ranges = {"config.scale": "slider", "config.lessons-0-accepted": "80-100, 12.0"}
    assert owner.post(f"{NEW}?kind=judge-training", training(**ranges)).status_code == 302
    assert Stage.objects.get().config["lessons"][0]["accepted"] == ["80-100", 12]
