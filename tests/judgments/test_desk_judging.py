"""Researchers' pages about judgments: what they show, in how many questions, and to whom."""

import csv
import io
import json
import re
import uuid
from copy import deepcopy
from html import unescape

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from core.jobs.models import Job
from core.projects.models import Event
from core.projects.selectors import pseudonym
from core.projects.services import set_role
from crowd.kinds import kind_of
from crowd.models import Assignment, Exclusion, Stage
from judgments.desk import urls
from judgments.models import AgreementReport, FilterRun, Judgment
from judgments.selectors.live import live
from judgments.selectors.ratings import ratings_of_stage, seconds_of_assignments
from judgments.services import filter_runs, reports
from tests.cases import apart, rows_of_module
from tests.judgments.desk_world import (
    HOSTILE,
    Place,
    as_,
    candidate_of,
    check,
    judge,
    make_place,
    make_work,
    people,
    query_of,
    run_filter_jobs,
    system_of,
    worker_of,
)
from tests.saving import versions
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db

LOOKING = {
    "agreement", "agreement_live", "report_json", "figure_csv", "filters", "scores", "scores_csv", "judges",
    "judge", "planning", "plot", "judge_plot",
}  # fmt: skip
ASKING = {"calculate"}
ACTIONS = {"cancel_report", "apply_filter", "undo_filter", "exclude_judge", "top_up"}
ROWS = [
    (f"{query}/{system}", worker, score)
    for query, base in (("q1", 5), ("q2", 1), ("q3", 3))
    for system, less in (("a", 0), ("b", 1))
    for worker, score in (("A1", base), ("A2", max(1, base - less)), ("A3", max(1, base - less)))
]


@pytest.fixture(autouse=True)
def forget() -> None:
    cache.clear()


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    """Three queries, two systems, three judges, all of them with passed checks but one; made once."""
    with rows_of_module(django_db_blocker):
        place = make_place()
        people(place)
        judge(place, ROWS)
        check(place, "A1", [True] * 4)
        check(place, "A2", [True, False, True, False])
        yield place


@pytest.fixture
def place(made, db) -> Place:
    """The stage as it was made; what a test does to it is rolled back."""
    return deepcopy(made)


def at(place, name, **parts):
    fixed = {"project": place.project.slug, "stage": place.stage.slug}
    return reverse(f"judgments:{name}", kwargs={**fixed, **parts})


@pytest.fixture
def parts(place):
    run = apply(place)
    make_report(place)
    return {
        "figure_csv": {"figure": "systems"},
        "judge": {"pk": worker_of(place, "A1").pk},
        "plot": {"plot": "systems", "form": "json"},
        "judge_plot": {"pk": worker_of(place, "A1").pk, "plot": "scores", "form": "json"},
        "exclude_judge": {"pk": worker_of(place, "A1").pk},
        "undo_filter": {"pk": run.pk},
    }


def apply(place, recipe="default"):
    owner = User.objects.get(username="owner")
    return filter_runs.apply(stage=place.stage, recipe=recipe, parameters={}, actor=owner)


def make_report(place):
    return reports.keep(reports.make(place.stage, lambda *_: None))


# Who may


def test_every_address_of_these_pages_is_in_this_matrix():
    assert {pattern.name for pattern in urls._QUALITY} == LOOKING | ASKING | ACTIONS


def test_members_look_and_others_find_nothing(place, parts, subtests):
    for name in sorted(LOOKING):
        with apart(subtests, name=name):
            address = at(place, name, **parts.get(name, {}))
            before = (Event.objects.count(), Job.objects.count(), FilterRun.objects.count())
            for who in ("owner", "manager", "viewer"):
                assert as_(who).get(address).status_code == 200
            assert as_("stranger").get(address).status_code == 404
            assert as_("anonymous").get(address).headers["Location"].startswith("/accounts/login/")
            assert (Event.objects.count(), Job.objects.count(), FilterRun.objects.count()) == before


def test_managers_act_and_nothing_happens_by_looking(place, parts, subtests):
    for name in sorted(ACTIONS):
        with apart(subtests, name=name):
            address = at(place, name, **parts.get(name, {}))
            before = Event.objects.count()
            for who in ("viewer", "stranger"):
                assert as_(who).post(address, {"reason": "x"}).status_code == 404
            assert as_("manager").get(address).status_code == 405
            assert Event.objects.count() == before
            assert as_("manager").post(address, {"reason": "x"}).status_code == 302


def test_only_owners_ask_again_for_real_money(place, parts):
    place.stage.endpoint.real_money = True
    place.stage.endpoint.save()
    assert as_("manager").post(at(place, "top_up"), {"most": "1.00", "once": uuid.uuid4()}).status_code == 404
    assert as_("owner").post(at(place, "top_up"), {"most": "1.00", "once": uuid.uuid4()}).status_code == 302


def test_viewers_see_no_forms_that_change_anything(place, parts):
    for name in ("filters", "judge"):
        page = as_("viewer").get(at(place, name, **parts.get(name, {}))).content.decode()
        assert 'method="post" action="/desk' not in page


def test_judges_and_runs_of_another_stage_are_not_found(place, parts):
    other = make_place(place.project)
    judge(other, [("x", "A1", 3)])
    stranger = worker_of(other, "OTHER")
    assert as_("owner").get(at(place, "judge", pk=stranger.pk)).status_code == 404
    elsewhere = at(other, "undo_filter", **parts["undo_filter"])
    assert as_("owner").post(elsewhere, {"reason": "x"}).status_code == 404


def test_stages_of_other_kinds_have_none_of_these_pages(place):
    Stage.objects.filter(pk=place.stage.pk).update(kind="poll")
    for name in ("agreement", "filters", "scores", "judges", "planning"):
        assert as_("owner").get(at(place, name)).status_code == 404


# Columns


def test_columns_are_in_order_of_submission_whatever_the_table_has_and_without_rejected_work(place):
    before = ratings_of_stage(place.stage)
    for pk in Judgment.objects.order_by("pk").values_list("pk", flat=True)[:3]:
        Judgment.objects.filter(pk=pk).update(comment="PostgreSQL writes this row behind the others")
    after = ratings_of_stage(place.stage, with_assignments=True)
    assert after.judgments.tolist() == before.judgments.tolist()
    assert after.ratings.scores.tolist() == before.ratings.scores.tolist()
    assert after.ratings.workers.tolist() == before.ratings.workers.tolist()
    Assignment.objects.filter(judgments__worker=worker_of(place, "A3")).update(state="rejected")
    columns = ratings_of_stage(place.stage)
    assert columns.ratings.scores.tolist() == [score for _, worker, score in ROWS if worker != "A3"]
    assert [columns.ratings.worker_names[code] for code in columns.ratings.workers[:3]] == ["A1", "A2", "A1"]
    assert columns.judgments.tolist() == sorted(columns.judgments.tolist())
    assert columns.candidates[columns.ratings.items[0]] == candidate_of(place, "q1/a").pk


def test_times_come_from_the_task_page_or_else_from_opening_to_sending(place):
    measured = make_work(place, "A1", seconds=42)
    other = make_work(place, "A1", seconds=30, telemetry={})
    unknown = other.pk + 1
    found = seconds_of_assignments(place.stage, np.array([measured.pk, other.pk, unknown]))
    assert found.tolist() == [42, pytest.approx(30, abs=0.01), pytest.approx(np.nan, nan_ok=True)]


def test_a_report_is_stored_in_parts_and_given_out_whole(place, monkeypatch):
    monkeypatch.setattr(reports, "_ROWS_OF_PART", 2)
    apply(place)
    made = reports.make(place.stage, lambda *_: None)
    wanted = {name: list(rows) for name, rows in made.rows.items()}
    wanted |= {name: value for name, value in made.report.items() if name != "pairs"}
    for _ in range(2):  # a report of the same stamp takes the place of the one before
        stored = AgreementReport.objects.get(pk=reports.keep(made))
        assert json.loads("".join(reports.json_of(stored))) == json.loads(
            json.dumps(wanted | {"made_at": made.created_at.isoformat()})
        )
    parts = stored.parts.order_by("name", "number").values_list("name", "number")
    assert list(parts) == [
        (name, number) for name in reports.IN_PARTS for number in range(-(-len(wanted[name]) // 2))
    ]
    assert parts.filter(name="removed_ratings").exists()
    stored.parts.all().delete()
    stored.rows |= {name: wanted[name] for name in reports.IN_PARTS}  # as reports were stored before
    assert json.loads("".join(reports.json_of(stored)))["items"] == wanted["items"]


def test_live_figures_follow_new_judgments_and_rejections(place):
    from metrics.agreement.alpha import alpha_of

    assert live(place.stage).judgments == 18
    judge(place, [("q1/a", "A4", 1)])
    later = live(place.stage)
    assert (later.judgments, later.workers) == (19, 4)
    assert later.alpha["interval"] == alpha_of(ratings_of_stage(place.stage).ratings)
    Assignment.objects.filter(judgments__worker=worker_of(place, "A4")).update(state="rejected")
    assert (live(place.stage).judgments, live(place.stage).workers) == (18, 3)
    assert live(place.stage).alpha["interval"] == alpha_of(ratings_of_stage(place.stage).ratings)


# Agreement


def test_before_anything_is_judged_the_pages_say_so_and_what_is_not_defined_in_words():
    place = make_place()
    people(place)
    page = words(as_("viewer").get(at(place, "agreement")))
    assert "No judgments yet" in page
    assert "NaN" not in page
    assert "has no alpha yet" in words(as_("viewer").get(at(place, "planning")))
    judge(place, [("q1", "A1", 3)])
    page = words(as_("viewer").get(at(place, "agreement")))
    assert "not defined: no item has two ratings" in page
    assert "nan" not in page.lower().split()
    make_report(place)
    assert "not defined" in words(as_("viewer").get(at(place, "agreement")))


def test_no_alpha_after_a_filter_stands_alone(place):
    apply(place, "kpqa-2021")
    make_report(place)
    page = words(as_("viewer").get(at(place, "agreement")))
    assert "after removing responses by z" in page
    assert "the same filter on noise" in page
    assert "the same filter on crowds of your alpha" in page
    assert "corrected" not in page
    assert "cross-fitted" in page


def test_the_report_says_of_what_it_is_and_what_came_since_and_is_downloaded_with_pseudonyms(place):
    apply(place)
    make_report(place)
    html = as_("viewer").get(at(place, "agreement"))
    assert html.content.decode().count('<p class="source"><code>') == 10
    assert "mean-of-item-means|interval=t-over-items|level=0.95|distillery=" in html.content.decode()
    page = words(html)
    assert "Of the filters default v1" in page
    assert "from 18 judgments" in page
    assert "came in after" not in page
    given = json.loads(as_("viewer").get(at(place, "report_json")).getvalue())
    assert given["n_ratings"] == 18
    assert {row["worker"] for row in given["removed_workers"]} == {pseudonym(place.project, "A2")}
    assert {row["query"] for row in given["items"]} == {"q1", "q2", "q3"}
    assert '"A2"' not in json.dumps(given)
    judge(place, [("q1/a", "A9", 3)])
    page = words(as_("viewer").get(at(place, "agreement")))
    assert "1 judgment came in after the filters in force were applied; no filter has looked at it." in page


def test_work_that_was_rejected_since_makes_the_report_old(place):
    apply(place)
    make_report(place)
    Assignment.objects.filter(judgments__worker=worker_of(place, "A2")).update(state="rejected")
    page = words(as_("viewer").get(at(place, "agreement")))
    assert "It is older than the figures above." in page


def test_a_report_is_worked_out_once_for_the_same_judgments(place):
    for _ in range(2):
        as_("manager").post(at(place, "calculate"))
    assert Job.objects.filter(kind="judgments.report").count() == 1
    judge(place, [("q1/a", "A9", 3)])
    as_("manager").post(at(place, "calculate"))
    assert Job.objects.filter(kind="judgments.report").count() == 2


def test_while_judgments_come_in_the_report_is_made_again_by_itself(place, monkeypatch):
    from core.jobs import runner

    monkeypatch.setattr(reports, "FIRST", 18)
    assert reports.keep_fresh(place.stage)
    assert not reports.keep_fresh(place.stage)
    runner.run(job_id=Job.objects.get().pk)
    judge(place, [(f"q1/{name}", "A9", 3) for name in "ab"])
    assert not reports.keep_fresh(place.stage)
    judge(place, [(f"q{number}/{name}", "A8", 3) for number in (1, 2) for name in "ab"])
    assert kind_of(place.stage).settle(place.stage) == {"report": "asked for"}
    assert Job.objects.count() == 2


def test_with_filters_in_force_later_judgments_ask_for_no_report(place, monkeypatch):
    monkeypatch.setattr(reports, "FIRST", 1)
    apply(place)
    Job.objects.all().delete()
    assert not reports.keep_fresh(place.stage)


def test_the_job_makes_the_report(place):
    from core.jobs import runner

    job = reports.ask(stage=place.stage)
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    assert AgreementReport.objects.get().judgments == 18


def test_every_figure_has_its_data_with_a_signature(place, subtests):
    for figure in ("nothing", "alpha"):  # before there is a report
        assert as_("viewer").get(at(place, "figure_csv", figure=figure)).status_code == 404
    apply(place, "kpqa-2021")
    make_report(place)
    for figure in (
        "now", "histogram", "spread", "sizes", "systems", "alpha", "reliability", "agreement", "removed",
        "kept", "pairs",
    ):  # fmt: skip
        with subtests.test(figure=figure):
            answer = as_("viewer").get(at(place, "figure_csv", figure=figure))
            first, *rest = answer.content.decode().splitlines()
            assert first.startswith("# ")
            assert "distillery=" in first
            assert len(list(csv.reader(rest))) > 1
            assert "A1" not in answer.content.decode()


def test_aspects_have_a_table_with_its_data_where_the_stage_asks_for_them(place):
    make_report(place)
    assert "Agreement per aspect" not in words(as_("viewer").get(at(place, "agreement")))
    assert as_("viewer").get(at(place, "figure_csv", figure="aspects")).status_code == 404
    assert "aspects" not in AgreementReport.objects.get().report
    names = ("topicality", "depth")
    config = {"aspects": [{"name": name, "question": "Is it about it?"} for name in names]}
    Stage.objects.filter(pk=place.stage.pk).update(config=config)
    place.stage.refresh_from_db()
    for judgment in Judgment.objects.filter(stage=place.stage):
        judgment.aspects = {"topicality": int(judgment.score), "other": 1}
        judgment.save()
    make_report(place)
    overall, topicality = AgreementReport.objects.get().report["aspects"]
    assert topicality["before"]["alpha"] == overall["before"]["alpha"]
    assert topicality["before"]["pearson"] == pytest.approx(1)
    page = words(as_("viewer").get(at(place, "agreement")))
    assert "Agreement per aspect" in page
    assert "topicality before any filter 18" in page
    rows = list(
        csv.reader(as_("viewer").get(at(place, "figure_csv", figure="aspects")).content.decode().splitlines())
    )
    assert ["topicality", "before", "n_ratings", "18", "", "", ""] in rows
    low, high = topicality["before"]["ci"]
    alpha = next(row for row in rows if row[:3] == ["topicality", "before", "alpha"])
    assert list(map(float, alpha[4:6])) == [low, high]
    assert f"{low:.3f} to {high:.3f}" in page


def test_the_live_part_stops_when_nothing_more_can_come(place):
    assert "data-done" in as_("viewer").get(at(place, "agreement_live")).content.decode()
    Stage.objects.filter(pk=place.stage.pk).update(status="open")
    assert "data-done" not in as_("viewer").get(at(place, "agreement_live")).content.decode()


# Filters


def look(place, query, who="manager"):
    return as_(who).get(f"{at(place, 'filters')}?look=1&{query}")


def test_a_preview_stands_in_its_address(place):
    page = words(look(place, "recipe=default&rules=checks&checks_failed=2&checks_least=4"))
    assert "Would remove 1 of 3 judges, 6 of 18 judgments; 6 answers fall below the target of 3;" in page
    assert "6 judgments would be missing on 6 answers; asking for them costs $0.72." in page
    assert not FilterRun.objects.exists()


def test_filters_that_cannot_be_are_refused_in_words(place):
    page = words(look(place, "recipe=default&rules=z&rules=kappa"))
    assert "The order of the rules is fixed" in page
    assert "cannot be read" in words(look(place, "recipe=default&rules=kappa&kappa_below=much"))
    assert "must be from -1 to 1" in words(look(place, "recipe=default&rules=kappa&kappa_below=4"))


def hidden(page: str, name: str) -> str:
    tag = next(part for part in page.split("<input ") if f'name="{name}"' in part.split(">")[0])
    return unescape(tag.split('value="')[1].split('"')[0])


def sent(place, query="recipe=default&rules=checks&checks_failed=2&checks_least=4"):
    page = look(place, query).content.decode()
    form = page[page.index("filters/apply/") :]
    return {name: hidden(form, name) for name in ("once", "recipe", "parameters", "seen")} | {"seed": "7"}


def test_what_was_previewed_is_applied_and_can_be_undone(place):
    form = sent(place)
    for _ in range(2):
        answer = as_("manager").post(at(place, "apply_filter"), form, follow=True)
        assert "The filters are being applied." in words(answer)
        run_filter_jobs()
    assert "removed 1 of 3 judges and 6 of 18 judgments." in words(as_("viewer").get(at(place, "filters")))
    run = FilterRun.objects.get()
    assert (run.recipe, run.seed, run.created_by.username) == ("default", 7, "manager")
    assert run.parameters["rules"] == ["checks"]
    address = at(place, "undo_filter", pk=run.pk)
    as_("manager").post(address, {"reason": ""})
    assert FilterRun.objects.get().state == "in force"
    answer = as_("manager").post(address, {"reason": HOSTILE}, follow=True)
    assert "Undone. All judgments count again." in words(answer)
    assert "<script>alert" not in answer.content.decode()
    assert FilterRun.objects.get().state == "undone"


def test_a_preview_that_somebody_overtook_is_not_applied(place):
    form = sent(place)
    theirs = apply(place, "none")
    answer = as_("manager").post(at(place, "apply_filter"), form)
    assert answer.status_code == 409
    assert FilterRun.objects.get() == theirs
    assert versions(answer) == {
        "Recipe": ("default v1, changed: rules", "none v1"),
        "Rules": ("Attention checks", "(empty)"),
        "Judges removed": ("1", "0"),
        "Judgments removed": ("6", "0"),
        "Applied by": ("manager", "owner"),
    }


def resent(answer) -> dict[str, str]:
    page = answer.content.decode()
    form = page[page.index("<main") :]
    return {name: hidden(form, name) for name in ("once", "recipe", "parameters", "seen")} | {"seed": "7"}


def test_of_two_who_apply_filters_the_second_keeps_theirs_or_edits_on(place):
    form = sent(place)
    apply(place, "kpqa-2021")
    first = as_("manager").post(at(place, "apply_filter"), form)
    third = apply(place, "none")
    second = as_("manager").post(at(place, "apply_filter"), resent(first))
    assert (second.status_code, versions(second)["Recipe"][1]) == (409, "none v1")
    page = second.content.decode()
    assert f'href="{at(place, "filters")}">Take theirs' in page
    edit = re.search(r'href="([^"]+)">Edit on', page)[1]
    assert "Would remove 1 of 3 judges" in words(as_("manager").get(unescape(edit)))
    for _ in range(2):
        assert as_("manager").post(at(place, "apply_filter"), resent(second)).status_code == 302
        run_filter_jobs()
    kept = FilterRun.objects.get(state="in force")
    assert (kept.parameters["rules"], kept.seed, kept.created_by.username) == (["checks"], 7, "manager")
    third.refresh_from_db()
    assert (third.state, FilterRun.objects.count()) == ("superseded", 3)


def test_filters_that_were_undone_are_compared_too_and_equal_ones_differ_in_who_applied_them(place):
    run = apply(place, "none")
    form = sent(place)
    filter_runs.undo(run, "Not yet.", User.objects.get(username="owner"))
    answer = as_("manager").post(at(place, "apply_filter"), form)
    assert versions(answer) == {"Recipe": ("default v1, changed: rules", "(no filters)")}
    form = sent(place, "recipe=none")
    apply(place, "none")
    answer = as_("manager").post(at(place, "apply_filter"), form)
    assert versions(answer) == {"Applied by": ("manager", "owner")}


def test_a_manipulated_form_is_refused_in_words(place):
    form = sent(place) | {"parameters": '{"rules": ["z", "checks"]}'}
    answer = as_("manager").post(at(place, "apply_filter"), form, follow=True)
    assert "The order of the rules is fixed" in words(answer)
    for odd in ("[]", "{", '{"rules": 3}', '{"kappa_below": []}'):
        answer = as_("manager").post(at(place, "apply_filter"), form | {"parameters": odd}, follow=True)
        assert answer.status_code == 200


# Scores


def test_scores_are_of_the_filters_in_force_and_raw_without(place):
    page = words(as_("viewer").get(at(place, "scores") + "?order=best"))
    assert "From all judgments: no filters are in force." in page
    apply(place)
    page = words(as_("viewer").get(at(place, "scores") + "?order=worst"))
    assert "After the filters default v1" in page
    assert "2 of 3" in page


def test_scores_are_sorted_and_filtered_by_the_address(place):
    for filtered in (False, True):
        if filtered:
            apply(place, "none")
        found = {}
        for order in ("best", "worst", "disputed", "fewest", "query"):
            answer = as_("viewer").get(at(place, "scores_csv") + f"?order={order}&system=b")
            rows = list(csv.DictReader(io.StringIO(b"".join(answer).decode().split("\n", 1)[1])))
            assert {row["system"] for row in rows} == {"b"}
            found[order] = [row["query_key"] for row in rows]
        assert found["best"] == ["q1", "q3", "q2"]
        assert found["worst"] == ["q2", "q3", "q1"]
        assert found["disputed"][-1] == "q2"
        assert found["query"] == ["q1", "q2", "q3"]


def test_the_table_of_scores_runs_no_formula():
    place = make_place()
    people(place)
    query_of(place, "q1", text="=cmd|calc")
    judge(place, [("q1", "A1", 3), ("q1", "A2", 4)])
    Judgment.objects.update(comment="=cmd|too short")
    answer = b"".join(as_("viewer").get(at(place, "scores_csv"))).decode()
    assert "'=cmd|calc" in answer
    assert answer.splitlines()[-1].endswith(",'=cmd|too short | =cmd|too short")


# Judges


def test_a_judges_row_has_checks_and_nobody_is_ranked_on_fewer_than_twenty_judgments(place):
    page = words(as_("viewer").get(at(place, "judges")))
    assert "2 of 4 15.0 % to 85.0 %" in page
    assert "none shown" in page
    judge(place, [(f"many{number}", "BUSY", 3) for number in range(20)])
    page = words(as_("viewer").get(at(place, "judges") + "?order=ratings"))
    ranked, few = page.split("Fewer than 20 judgments")
    assert "BUSY" in ranked
    assert "A1" not in ranked
    assert "A1" in few
    assert "Not ranked" in few


def test_judges_are_filtered_by_the_address_and_have_pages_with_checks_scores_and_verdicts(place):
    apply(place)
    for shown, name in (("removed", "A2"), ("flagged", "A2")):
        page = words(as_("viewer").get(f"{at(place, 'judges')}?show={shown}"))
        assert name in page
        assert "A1" not in page
    assert "No matches" in words(as_("viewer").get(at(place, "judges") + "?show=excluded"))
    page = words(as_("viewer").get(at(place, "judge", pk=worker_of(place, "A2").pk)))
    assert "Removed by the filters in force (failed attention checks): failed 2 of 4 attention checks" in page
    assert "an answer to another query" in page
    assert "Time and score" in page


def test_the_record_covers_the_projects_that_one_may_see(place):
    other = make_place(endpoint=place.stage.endpoint)
    judge(other, [("secret", "A1", 3)])
    address = at(place, "judge", pk=worker_of(place, "A1").pk)
    assert other.project.slug not in as_("owner").get(address).content.decode()
    set_role(project=other.project, user=User.objects.get(username="owner"), role="viewer")
    assert other.project.slug in as_("owner").get(address).content.decode()


def test_a_judge_is_excluded_from_the_stage_or_the_project_with_a_reason(place):
    second = make_place(place.project, endpoint=place.stage.endpoint)
    worker = worker_of(place, "A2")
    address = at(place, "exclude_judge", pk=worker.pk)
    as_("manager").post(address, {"from": "stage", "reason": ""})
    assert not Exclusion.objects.exists()
    as_("manager").post(address, {"from": "stage", "reason": "Random clicks"})
    assert Exclusion.objects.get().scope == f"stage:{place.stage.pk}"
    as_("manager").post(address, {"from": "project", "reason": "Random clicks"})
    assert set(Exclusion.objects.values_list("scope", flat=True)) == {
        f"stage:{place.stage.pk}", f"stage:{second.stage.pk}",
    }  # fmt: skip
    event = Event.objects.filter(action="worker.excluded").latest("pk")
    assert (event.actor.username, event.details["why"]) == ("manager", "Random clicks")
    assert "excluded" in words(as_("viewer").get(at(place, "judges") + "?show=excluded"))


# Planning


def test_planning_says_add_items_and_what_they_cost_and_wrong_input_in_words(place):
    address = at(place, "planning") + "?difference=0.2&sd_difference=1.55&sd_rating=0.95&power=0.8"
    page = words(as_("viewer").get(address))
    assert "add items, not raters" in page
    for questions in ("826", "590", "507"):
        assert questions in page
    assert "cheapest" in page
    page = words(as_("viewer").get(at(place, "planning") + "?difference=nothing&human_a=2&alpha=-0.5"))
    assert "Enter a number." in page
    assert "less than or equal to 0.999" in page
    assert "without agreement above chance no number of ratings helps" in page


def test_planning_counts_in_points_of_the_stages_scale():
    """A slider's deviations of 20 points once were refused as above 6."""
    place = make_place(config={"scale": "slider"})
    people(place)
    address = at(place, "planning")
    usual = as_("viewer").get(address).content.decode()
    assert 'value="5.0"' in usual
    assert "such as 20 points" in words(as_("viewer").get(address))
    wide = words(as_("viewer").get(f"{address}?difference=5&sd_difference=22.8&sd_rating=24.5&power=0.8"))
    assert "cheapest" in wide
    assert "less than or equal to" not in wide
    assert "less than or equal to 100" in words(as_("viewer").get(f"{address}?sd_rating=101"))


# All of them


def test_names_and_texts_of_strangers_are_escaped():
    place = make_place()
    people(place)
    query_of(place, "q1", text=HOSTILE)
    system_of(place, HOSTILE[:90])
    place.systems["a"] = place.systems[HOSTILE[:90]]
    judge(place, [("q1", f"A{number}", 3) for number in range(3)])
    check(place, "A1", [True])
    Judgment.objects.update(comment=HOSTILE)
    apply(place, "none")
    make_report(place)
    for name in ("agreement", "filters", "scores", "judges", "judge", "planning"):
        parts = {"pk": worker_of(place, "A1").pk} if name == "judge" else {}
        page = as_("owner").get(at(place, name, **parts)).content.decode()
        assert "<script>alert" not in page
    assert "alert(" in as_("owner").get(at(place, "scores")).content.decode()


@pytest.mark.long
def test_questions_to_the_database_do_not_grow_with_the_judgments(
    place, django_assert_max_num_queries, subtests
):
    judge(place, [(f"n{number}/b", f"B{number % 7}", 1 + number % 5) for number in range(40)])
    for number in range(7):
        check(place, f"B{number}", [True, False])
    apply(place)
    make_report(place)
    client = as_("owner")
    for name, most in (
        ("agreement", 21), ("agreement_live", 20), ("filters", 21), ("scores", 13), ("judges", 20),
        ("judge", 45), ("planning", 17), ("report_json", 6),
    ):  # fmt: skip
        with subtests.test(name=name):
            cache.clear()
            parts = {"pk": worker_of(place, "B1").pk} if name == "judge" else {}
            with django_assert_max_num_queries(most):
                assert client.get(at(place, name, **parts)).status_code == 200


# Plots


def test_plots_say_what_their_tables_say_and_of_a_judge_no_name(place, parts):
    for name in ("systems", "histogram", "spread", "sizes"):
        said = as_("viewer").get(at(place, "plot", plot=name, form="json")).json()
        values = said["data"]["values"]
        if name == "systems":
            means = {(row["system"], row["step"]): round(row["mean"], 3) for row in values}
            assert (means["a", "before filters"], means["b", "before filters"]) == (3.0, 2.556)
            assert ("a", "after filters") in means
        if name == "histogram":
            before = [row["judgments"] for row in values if row["step"] == "before filters"]
            assert sum(before) == len(ROWS)
        assert said["usermeta"]["signature"].count("|distillery=") == 1
        drawing = as_("viewer").get(at(place, "plot", plot=name, form="svg"))
        assert drawing["Content-Type"] == "image/svg+xml"
    worker = worker_of(place, "A1")
    for name in ("scores", "time"):
        answer = as_("viewer").get(at(place, "judge_plot", pk=worker.pk, plot=name, form="json"))
        assert worker.external_id not in answer.content.decode()
        assert answer.json()["data"]["values"]
    for unknown in ({"plot": "pies", "form": "svg"}, {"plot": "systems", "form": "exe"}):
        assert as_("viewer").get(at(place, "plot", **unknown)).status_code == 404
