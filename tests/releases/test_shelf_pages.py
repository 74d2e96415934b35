"""Pages of releases on the desk: the wizard, findings and their decisions, one release, rights by role."""

import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotation.models import Answer
from core.jobs.models import Job, JobState
from core.projects.models import Event, Project
from releases import selectors
from releases.models import PrivacyFinding, Release
from releases.privacy import accept_findings, check_project
from tests.cases import apart
from tests.releases.shelf_world import as_, make_project, make_release, people
from tests.releases.world import World
from tests.saving import revision, versions

pytestmark = pytest.mark.django_db
DESK = "/desk/projects/capitals/releases/"
NEW = f"{DESK}new/"
HOSTILE = "<script>alert('x')</script>\u202e\"'&{{7*7}}"


@pytest.fixture(autouse=True)
def shelf(settings: Any, tmp_path: Path) -> None:
    settings.RELEASES_STORAGE = str(tmp_path)


@pytest.fixture
def world(made_world: World) -> World:
    """A project whose findings are not looked at yet."""
    people(made_world.project)
    answer = made_world.answers["q1/AE2"]
    Answer.objects.filter(pk=answer.pk).update(text="Write to jane@example.org, it is Paris.")
    return made_world


def text(response: Any) -> str:
    """A page without what is not seen."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def said(response: Any) -> list[str]:
    """The newest note of a page."""
    return [str(message) for message in response.context["messages"]][-1:]


def test_the_first_page_teaches_what_a_release_is_and_the_first_step_counts_what_goes_in(world):
    assert "Make the first release" in text(as_("manager").get(DESK))
    page = text(as_("viewer").get(DESK))
    assert "No release yet" in page
    assert "Make the first release" not in page
    page = text(as_("manager").get(NEW))
    assert "Queries 5 of 8" in page
    assert "Answers of people 18 of 20" in page
    assert "Answers of systems 11 of 11" in page
    assert "Ratings 50" in page
    check_project(project=world.project)
    answer = as_("manager").post(f"{NEW}card/", {"build": "1", "once": uuid.uuid4()})
    assert answer.status_code == 422
    assert "2 findings without a decision" in text(answer)
    assert Release.objects.count() == 0


def test_the_list_shows_each_release_with_its_state_and_filters_by_it(world, django_assert_max_num_queries):
    project = world.project
    for minor in range(30):
        make_release(project, f"1.{minor}.0")
    Release.objects.create(
        project=project, version="2.0.0", state="failed", error="x", created_at=timezone.now()
    )
    client = as_("viewer")
    client.get(DESK)
    with django_assert_max_num_queries(20):  # none for each of the rows
        page = text(client.get(DESK))
    assert "Page 1 of 2" in page
    assert all(words in page for words in ("2.0.0 Failed", "1.29.0 Ready 4 ", "manager"))
    failed = text(client.get(f"{DESK}?state=failed"))
    assert "2.0.0" in failed
    assert "1.29.0 Ready" not in failed
    assert "No release is in this state" in text(client.get(f"{DESK}?state=withdrawn"))


def test_one_page_has_the_releases_of_all_my_projects(world):
    make_release(world.project)
    make_release(make_project("towns", "Towns"), "3.0.0")
    page = text(as_("viewer").get("/desk/releases/"))
    assert "Capitals" in page
    assert "3.0.0" in page
    assert as_("stranger").get("/desk/releases/").status_code == 404


def test_choices_travel_in_the_address_from_step_to_step(world):
    given = "formats=jsonl&formats=csv&seed=7&train=80&validation=10&test=10&version=1.2.0"
    first = as_("manager").get(f"{NEW}?include=flagged&{given}&go=1")
    assert first["Location"] == f"{NEW}formats/?include=flagged&{given}"
    page = as_("manager").get(first["Location"]).content.decode()
    assert '<input type="hidden" name="include" value="flagged">' in page
    answer = as_("manager").get(f"{NEW}formats/?{given}&go=1")
    assert answer.status_code == 302
    assert answer["Location"].startswith(f"{NEW}privacy/?formats=jsonl&formats=csv&seed=7&train=80")
    page = as_("manager").get(answer["Location"]).content.decode()
    assert f"{NEW}preview/?formats=jsonl&amp;formats=csv&amp;seed=7" in page


def test_choices_that_cannot_be_are_named_and_later_steps_lead_back(world):
    client = as_("manager")
    for given, words in [
        ("formats=jsonl&seed=0&train=80&validation=10&test=0", "must add up to 1"),
        ("formats=jsonl&seed=0&train=0&validation=50&test=50", "train must have a share"),
        ("seed=0&train=100&validation=0&test=0", "This field is required"),
        ("formats=xml&seed=0&train=100&validation=0&test=0", "xml is not one of the available choices"),
        ("formats=jsonl&seed=x&train=100&validation=0&test=0", "Enter a whole number"),
        ("formats=jsonl&seed=0&train=100&validation=0&test=0&version=one", "Write three numbers with dots"),
    ]:
        answer = client.get(f"{NEW}formats/?{given}&go=1")
        assert (answer.status_code, words in text(answer)) == (422, True), given
        assert client.get(f"{NEW}preview/?{given}")["Location"].startswith(f"{NEW}formats/")
        assert client.get(f"{NEW}card/?{given}")["Location"].startswith(NEW)


def test_a_check_is_begun_watched_and_cancelled(world):
    client = as_("manager")
    once = uuid.uuid4()
    begun = client.post(f"{NEW}privacy/check/?formats=jsonl", {"once": once})
    job = Job.objects.get(kind="releases.check")
    assert begun["Location"] == f"{NEW}privacy/check/{job.pk}/?formats=jsonl"
    assert client.post(f"{NEW}privacy/check/", {"once": once})["Location"].endswith(f"check/{job.pk}/")
    assert "Starting" in text(client.get(begun["Location"]))
    cancelled = client.post(f"{NEW}privacy/check/{job.pk}/cancel/?formats=jsonl", follow=True)
    assert said(cancelled) == ["The check was cancelled. What it found so far stays."]
    live = client.get(f"{NEW}privacy/check/{job.pk}/live/")
    assert "It was cancelled." in text(live)
    assert "data-done" in live.content.decode()
    Job.objects.update(state=JobState.DONE, finished_at=timezone.now(), result={"texts": 37, "open": 2})
    assert client.get(begun["Location"])["Location"] == f"{NEW}privacy/?formats=jsonl"


def test_findings_are_shown_in_their_context_and_decided_many_at_once(world):
    client = as_("manager")
    assert "Not checked yet" in text(client.get(f"{NEW}privacy/"))
    check_project(project=world.project)
    page = client.get(f"{NEW}privacy/")
    assert "<mark>jane@example.org</mark>, it is Paris." in page.content.decode()
    assert "2 wait for a decision" in text(page)
    keys = list(PrivacyFinding.objects.filter(rule="email").values_list("pk", flat=True))
    done = client.post(
        f"{NEW}privacy/decide/", {"do": "redact", "which": "ticked", "finding": keys}, follow=True
    )
    assert said(done) == ["1 finding will be blacked out."]
    done = client.post(
        f"{NEW}privacy/decide/?state=open", {"do": "accept", "which": "all", "state": "open",
                                                   "reason": "Known."},
        follow=True,
    )  # fmt: skip
    assert said(done) == ["1 finding may stay."]
    assert "Nothing waits for a decision" in text(done)
    states = PrivacyFinding.objects.order_by("rule").values_list("rule", "state", "decided_by__username")
    assert list(states) == [("email", "redacted", "manager"), ("small-group", "accepted", "manager")]
    accepted = text(client.get(f"{NEW}privacy/?state=accepted&rule=small-group"))
    assert "Known." in accepted
    assert "from real people are from 4 people" in accepted


def test_a_decision_that_cannot_be_taken_says_why(world):
    check_project(project=world.project)
    for given, words in [
        ({"do": "redact", "which": "ticked"}, "Tick the findings first"),
        ({"do": "redact", "which": "ticked", "finding": "9" * 5000}, "Tick the findings first"),
        ({"do": "accept", "which": "all", "state": "open"}, "Say why these may stay"),
        ({"do": "sell", "which": "all", "state": "open"}, "Choose what is to happen"),
        ({"do": "redact", "which": "all", "state": "nothing"}, "There are no such findings"),
        ({"do": "reopen", "which": "all", "state": "open"}, "Nothing has changed"),
    ]:
        answer = as_("manager").post(f"{NEW}privacy/decide/", given, follow=True)
        assert words in said(answer)[0]
        assert set(PrivacyFinding.objects.values_list("state", flat=True)) == {"open"}
    other = make_project("towns")
    keys = list(PrivacyFinding.objects.values_list("pk", flat=True))
    as_("manager").post(
        f"/desk/projects/{other.slug}/releases/new/privacy/decide/",
        {"do": "accept", "which": "ticked", "finding": keys, "reason": "x"},
    )
    assert set(PrivacyFinding.objects.values_list("state", flat=True)) == {"open"}


def test_the_preview_shows_rows_as_they_will_be(world):
    check_project(project=world.project)
    as_("manager").post(f"{NEW}privacy/decide/", {"do": "redact", "which": "all", "state": "open"})
    page = text(as_("manager").get(f"{NEW}preview/"))
    assert "Write to ████████████████, it is Paris." in page
    assert "jane@example.org" not in page
    assert "what is the capital of france" in page
    assert "AE2" not in page
    assert "1 span blacked out" in page


def test_the_preview_of_a_large_project_reads_few_queries(world, monkeypatch):
    monkeypatch.setattr(selectors, "_AT_ONCE", 1)
    for bound in ("_FEW", "_LOOKED_AT"):
        with monkeypatch.context() as patch:
            patch.setattr(selectors, bound, 2)
            address = f"{NEW}preview/?formats=jsonl&seed=0&train=80&validation=10&test=10"
            page = text(as_("manager").get(address))
        assert "(decided in the build)" in page, bound
        assert "alpha about q1" in page


def test_the_card_asks_what_only_people_know_and_shows_how_it_reads(world):
    answer = as_("manager").post(
        f"{NEW}card/",
        {"look": "1", "once": uuid.uuid4(), "purpose": "To compare systems.", "notes": "First."},
    )
    page = text(answer)
    assert "The card so far" in page
    assert "0 workers" not in page
    assert page.count("To compare systems.") == 2
    assert Release.objects.count() == 0


def test_the_build_begins_with_what_was_chosen_and_answered(world):
    check_project(project=world.project)
    accept_findings(
        findings=PrivacyFinding.objects.all(), reason="Fine.", actor=User.objects.get(username="manager")
    )
    given = "formats=jsonl&seed=7&train=80&validation=10&test=10&version=1.2.0"
    answers = {"build": "1", "once": uuid.uuid4(), "purpose": "To compare systems.", "notes": "First."}
    begun = as_("manager").post(f"{NEW}card/?{given}", answers, follow=True)
    assert said(begun) == ["Release 1.2.0 is being built."]
    release = Release.objects.get()
    assert (release.state, release.version, release.notes, release.job) == (
        "building",
        "1.2.0",
        "First.",
        Job.objects.get(kind="releases.build").pk,
    )
    assert release.options == {
        "include": [],
        "formats": ["jsonl"], "seed": 7, "shares": [0.8, 0.1, 0.1],
        "answers": {"purpose": "To compare systems."},
    }  # fmt: skip
    assert "Starting" in text(begun)
    again = as_("manager").get(f"{NEW}card/")
    assert "To compare systems." in text(again)


def test_a_build_can_be_cancelled_and_tried_again(world):
    check_project(project=world.project)
    accept_findings(
        findings=PrivacyFinding.objects.all(), reason="Fine.", actor=User.objects.get(username="manager")
    )
    client = as_("manager")
    client.post(f"{NEW}card/", {"build": "1", "once": uuid.uuid4()})
    page = client.post(f"{DESK}1.0.0/cancel/", follow=True)
    assert said(page) == ["The build was cancelled. No files were kept."]
    assert "It was not built. It was cancelled." in text(page)
    assert said(client.post(f"{DESK}1.0.0/cancel/", follow=True)) == ["The build is over already."]
    page = client.post(f"{DESK}1.0.0/again/", follow=True)
    assert said(page) == ["Release 1.0.0 is being built again."]
    release = Release.objects.get()
    assert "Starting" in text(client.get(f"{DESK}builds/{release.job}/live/"))
    Job.objects.filter(pk=release.job).update(
        state=JobState.DONE, finished_at=timezone.now(), result={"version": "0.9.0", "same": True}
    )
    assert client.get(f"{DESK}builds/{release.job}/")["Location"] == f"{DESK}0.9.0/"


def test_answers_of_a_card_that_somebody_built_meanwhile_are_compared_first(world):
    check_project(project=world.project)
    accept_findings(
        findings=PrivacyFinding.objects.all(), reason="Fine.", actor=User.objects.get(username="manager")
    )
    make_release(world.project, options={"answers": {"purpose": "Old."}})
    page = f"{NEW}card/?formats=jsonl&seed=7&train=80&validation=10&test=10&version=2.0.0"
    client = as_("manager")
    mine = {"purpose": "Mine.", "notes": "More.", "build": "1", "once": uuid.uuid4()} | revision(client, page)
    make_release(world.project, "1.1.0", options={"answers": {"purpose": "Theirs.", "limits": "None."}})
    answer = client.post(page, mine)
    assert answer.status_code == 409
    assert not Release.objects.filter(version="2.0.0").exists()
    assert dict(versions(answer).values()) == {"Mine.": "Theirs.", "(empty)": "None."}
    assert client.post(page, mine | hidden_mark(answer)).status_code == 302
    assert Release.objects.get(version="2.0.0").options["answers"] == {"purpose": "Mine."}


def hidden_mark(answer) -> dict[str, str]:
    return {"revision": re.search(r'name="revision" value="([^"]+)"', answer.content.decode())[1]}


def test_the_page_of_a_release_has_its_files_sums_and_lines_for_curl(world):
    release = make_release(world.project, notes="More answers.")
    client = as_("viewer")
    page = client.get(f"{DESK}1.0.0/")
    words = text(page)
    for each in release.files.all():
        assert each.path in words
        assert each.sha256 in words
    assert release.digest in words
    assert "More answers." in words
    assert "curl -fL -C - -o" in words
    assert "sha256sum -c SHA256SUMS" in words
    assert "$2.90" in words
    assert "Queries: screened 8 6 adult 2" in words
    assert "Withdraw" not in words
    assert "Make it public" not in words


def test_an_owner_publishes_hides_and_withdraws_and_the_record_stays(world):
    make_release(world.project)
    owner, anyone = as_("owner"), as_("anonymous")
    assert anyone.get("/releases/capitals/1.0.0/").status_code == 404
    owner.post(f"{DESK}1.0.0/publish/")
    assert anyone.get("/releases/capitals/1.0.0/").status_code == 200
    owner.post(f"{DESK}1.0.0/hide/")
    assert anyone.get("/releases/capitals/1.0.0/").status_code == 404
    owner.post(f"{DESK}1.0.0/publish/")
    wrong = owner.post(f"{DESK}1.0.0/withdraw/", {"reason": "Wrong texts.", "typed": "1.0"}, follow=True)
    assert said(wrong) == ["Type 1.0.0 to withdraw it; this was something else."]
    done = owner.post(f"{DESK}1.0.0/withdraw/", {"reason": "Wrong texts.", "typed": "1.0.0"}, follow=True)
    assert said(done) == ["Release 1.0.0 is withdrawn. Its page stays and says why."]
    for page in (done, as_("viewer").get(f"{DESK}1.0.0/"), anyone.get("/releases/capitals/1.0.0/")):
        assert "Wrong texts." in text(page)
        assert "Its files are no longer offered." in text(page)
        assert "README.md" not in text(page)
    again = owner.post(f"{DESK}1.0.0/withdraw/", {"reason": "x", "typed": "1.0.0"}, follow=True)
    assert said(again) == ["Release 1.0.0 is not ready, so it cannot be withdrawn."]
    actions = (
        Event.objects.filter(action__startswith="release.").order_by("pk").values_list("action", flat=True)
    )
    assert list(actions) == ["release.public", "release.private", "release.public", "release.withdrawn"]


def test_the_public_page_names_no_member_and_may_stand_in_no_frame(world):
    make_release(world.project, public=True, notes=HOSTILE)
    answer = as_("anonymous").get("/releases/capitals/1.0.0/")
    page = answer.content.decode()
    assert answer["X-Frame-Options"] == "DENY"
    assert not any(name in page for name in ("manager", "owner", "viewer", "AE1", "AJ1"))
    assert "<script>alert" not in page
    assert "/releases/capitals/1.0.0/files/README.md" in page
    assert as_("anonymous").get("/releases/towns/1.0.0/").status_code == 404


def test_the_difference_to_the_release_before(world):
    from tests.releases.shelf_world import FILES

    make_release(world.project, "1.0.0")
    more = {**FILES, "README.md": b"# Other\n", "parquet/answers-train.parquet": b"PAR1"}
    more.pop("csv/answers-train.csv")
    make_release(world.project, "1.1.0", files=more)
    page = text(as_("viewer").get(f"{DESK}1.1.0/difference/"))
    assert "From 1.0.0 to 1.1.0" in page
    assert "2 the same, 1 changed, 1 added, 1 removed." in page
    assert "Nothing to compare with" in text(as_("viewer").get(f"{DESK}1.0.0/difference/"))
    assert as_("viewer").get(f"{DESK}1.1.0/difference/?from=9.9.9").status_code == 404
    assert as_("viewer").get(f"{DESK}1.1.0/difference/?from=1.1.0").status_code == 404


def test_hostile_words_stay_words(world):
    Project.objects.update(title=HOSTILE)
    world.project.refresh_from_db()
    Answer.objects.filter(pk=world.answers["q1/AE2"].pk).update(text=f"{HOSTILE} a@b.org {HOSTILE}")
    check_project(project=world.project)
    make_release(world.project, "1.0.0", notes=HOSTILE, simulated=True, public=True)
    make_release(world.project, "1.1.0", notes=HOSTILE)
    answers = {
        "look": "1",
        "once": str(uuid.uuid4()),
        "purpose": HOSTILE,
        "notes": HOSTILE,
        "authors": HOSTILE,
    }
    pages = [
        as_("owner").get(DESK),
        as_("owner").get("/desk/releases/"),
        as_("owner").get(NEW),
        as_("owner").get(f"{NEW}privacy/"),
        as_("owner").get(f"{NEW}preview/"),
        as_("owner").post(f"{NEW}card/", answers),
        as_("owner").get(f"{DESK}1.1.0/"),
        as_("owner").get(f"{DESK}1.1.0/difference/"),
        as_("anonymous").get("/releases/capitals/1.0.0/"),
    ]
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.content.decode()
        assert "49" not in re.findall(r"&amp;(\d+)", page.content.decode())


# Rights

_MANAGES = ("content", "privacy", "preview", "card")


def test_rights_by_role(world, subtests):
    for who, looks, manages, owns in [
        ("stranger", 404, 404, 404),
        ("viewer", 200, 404, 404),
        ("manager", 200, 200, 404),
        ("owner", 200, 200, 302),
        ("anonymous", 302, 302, 302),
    ]:
        with apart(subtests, who=who, looks=looks, manages=manages, owns=owns):
            make_release(world.project)
            client = as_(who)
            for name in ("list", "release", "difference"):
                parts = [] if name == "list" else ["1.0.0"]
                assert client.get(reverse(f"releases:{name}", args=["capitals", *parts])).status_code == looks
            for name in _MANAGES:
                assert client.get(reverse(f"releases:{name}", args=["capitals"])).status_code == manages
            acts = 302 if manages == 200 else manages
            assert client.post(f"{NEW}privacy/decide/", {"do": "accept"}).status_code == acts
            assert client.post(f"{NEW}privacy/check/", {"once": uuid.uuid4()}).status_code == acts
            assert client.post(f"{DESK}1.0.0/cancel/").status_code == acts
            assert client.post(f"{DESK}1.0.0/again/").status_code == acts
            for name in ("publish", "hide", "withdraw"):
                assert client.post(f"{DESK}1.0.0/{name}/").status_code == owns
    with apart(subtests, looking=True):
        make_release(world.project)
        owner = as_("owner")
        for name in ("publish", "hide", "withdraw", "cancel", "again"):
            assert owner.get(f"{DESK}1.0.0/{name}/").status_code == 405
        assert owner.get(f"{NEW}privacy/decide/").status_code == 405
        assert owner.get(f"{NEW}privacy/check/").status_code == 405
