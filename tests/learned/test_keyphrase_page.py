"""A query as KPQA sees it: words with their weights, weighed once by a worker, never by looking."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core.jobs import services as jobs
from core.jobs.models import Job
from core.jobs.runner import run
from core.storage import shared_store
from evaluations import keyphrases
from evaluations.model_shelf import model_named
from judgments.models import Candidate
from metrics.model_folders import Choice, ModelFolder
from tests.evaluations.model_folders import model
from tests.judgments import desk_world

pytestmark = pytest.mark.django_db
REFERENCES = ["The old ticket costs 25 euros and weighs 310 grams here.", "25 euros"]
ANSWER = "The ticket costs 25 euros."


@pytest.fixture
def place(settings: Any, tmp_path: Path) -> Any:
    settings.METRIC_MODELS, settings.DATA_DIR = tmp_path / "models", tmp_path
    settings.BERTSCORE_ENCODER = ""
    made = desk_world.make_place()
    desk_world.query_of(made, "q1", references=REFERENCES)
    row = made.queries["q1"]
    row.text = "How much does the ticket cost?"
    row.save()
    candidate = desk_world.candidate_of(made, "q1/a")
    Candidate.objects.filter(pk=candidate.pk).update(text=ANSWER)
    desk_world.people(made)
    return made


@pytest.fixture
def there(place: Any, trained_predictor: ModelFolder, settings: Any) -> Path:
    return Path(shutil.copytree(trained_predictor.path, settings.METRIC_MODELS / "tiny"))


@pytest.fixture
def manager(place: Any) -> Client:
    return desk_world.as_("manager")


def address(place: Any, name: str = "keyphrases", key: str = "q1") -> str:
    return reverse(f"evaluations:{name}", args=[place.project.slug, place.queries[key].pk])


def weighed(client: Client, place: Any, **asked: Any) -> str:
    """The page after a worker has done what was asked for."""
    answer = client.post(address(place, "weigh"), {"model": "tiny", **asked})
    assert answer.status_code == 302
    run(job_id=Job.objects.filter(kind=keyphrases.KIND).latest("pk").pk)
    return client.get(answer.headers["Location"]).content.decode()


def words(html: str, text: int, row: str = "kpw") -> dict[str, float]:
    """Words of a text with the weights that the page gives them."""
    found = re.search(rf'aria-labelledby="h-text-{text} {row}-{text}".*?</p>', html, re.S)
    assert found
    pairs = re.findall(r'<span class="w k(\d+)">(.*?)<span class="n" aria-hidden="true">(.*?)<', found[0])
    return {word: float(number) for _, word, number in pairs}


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_without_a_model_the_page_says_what_to_do(manager, place):
    page = plain(manager.get(address(place)).content.decode())
    assert "No KPQA model yet" in page
    assert "manage.py train-kpqa" in page


def test_looking_begins_nothing_and_neither_does_what_cannot_be_asked_for(manager, place, there):
    html = manager.get(address(place), {"model": "tiny"}).content.decode()
    assert "The words of these texts were not weighed yet." in html
    for asked in (
        {"model": "nobody"}, {"model": "../tiny"}, {"candidate": "9" * 30}, {"answer": "x" * 900},
        {"answer": "\x00"},
    ):  # fmt: skip
        answer = manager.post(address(place, "weigh"), {"model": "tiny", **asked})
        shown = manager.get(answer.headers["Location"]).content.decode()
        assert 'class="field wrong"' in shown, asked
    assert Job.objects.count() == 0
    for _ in range(keyphrases.MOST_WAITING):
        jobs.enqueue(kind=keyphrases.KIND, payload={})
    page = manager.post(address(place, "weigh"), {"model": "tiny"}, follow=True).content.decode()
    assert "Many answers wait to be weighed already." in page


def test_the_words_of_references_and_answer_are_weighed_once_and_stand_in_a_table(manager, place, there):
    from distillery_learned.metrics.word_weights import weigher

    asked = {"candidate": place.candidates["q1/a"].pk}
    html = weighed(manager, place, **asked)
    assert re.findall(r'<h2 id="h-text-\d">(.*?)</h2>', html) == [
        "The answer of <bdi>a</bdi>", "Reference 1", "Reference 2",
    ]  # fmt: skip
    answer, reference = words(html, 1), words(html, 2)
    assert list(answer) == ["The", "ticket", "costs", "25", "euros", "."]
    assert max(answer, key=answer.get) == "25"
    assert max(reference, key=reference.get) == "25"
    assert reference["310"] < 0.5 < reference["25"]
    table = re.search(r'id="table-3".*?</table>', html, re.S)[0]
    rows = re.findall(
        r"<bdi>(.*?)</bdi></th><td class=\"number\">(.*?)</td><td class=\"number\">(.*?)</td>", table
    )
    assert [row[0] for row in rows] == ["25", "euros"]
    assert {word: float(weight) for word, weight, _ in rows} == words(html, 3)
    kept = model_named("tiny")
    (own,) = weigher(Choice(str(kept.folder), kept.digest)).weigh(
        [("How much does the ticket cost?", REFERENCES[1])]
    )
    assert list(words(html, 3).values()) == pytest.approx(own.weights.tolist(), abs=0.006)
    manager.post(address(place, "weigh"), {"model": "tiny", **asked})
    assert Job.objects.filter(kind=keyphrases.KIND).count() == 1


@pytest.mark.long
def test_rarity_among_the_references_of_the_project(manager, place, there):
    desk_world.query_of(place, "q2", references=["The ticket is green", "a green train"])
    html = weighed(manager, place, answer="Ticket 25 zebra")
    # Of four references: "ticket" in two, "25" in two, "zebra" in none.
    assert words(html, 1, "idf") == {"Ticket": 0.32, "25": 0.32, "zebra": 1.0}
    assert "how few of the project's 4 references hold the word" in html


@pytest.mark.long
def test_while_it_waits_the_page_looks_again_and_other_texts_are_weighed_anew(manager, place, there):
    there_now = manager.post(address(place, "weigh"), {"model": "tiny"}).headers["Location"]
    html = manager.get(there_now).content.decode()
    assert f'data-live="{address(place, "keyphrases_live")}?model=tiny"' in html
    live = manager.get(address(place, "keyphrases_live"), {"model": "tiny"}).content.decode()
    assert "Starting" in live
    assert "data-done" not in live
    run(job_id=Job.objects.get().pk)
    live = manager.get(address(place, "keyphrases_live"), {"model": "tiny"}).content.decode()
    assert "data-done" in live
    assert "<html" not in live
    place.queries["q1"].references = ["30 euros"]
    place.queries["q1"].save()
    assert "were not weighed yet" in manager.get(address(place), {"model": "tiny"}).content.decode()


def test_what_was_typed_is_text_and_not_kept(manager, place, there):
    typed = {"model": "tiny", "answer": "<script>alert('secret')</script> {{7*7}} 25"}
    there_now = manager.post(address(place, "weigh"), typed).headers["Location"]
    job = Job.objects.get()
    assert "secret" not in str(job.payload)
    run(job_id=job.pk)
    job.refresh_from_db()
    assert job.payload == {"project": place.project.pk}
    assert "secret" not in f"{job.result}{job.effect}"
    html = manager.get(there_now).content.decode()
    assert "<script>alert" not in html
    assert "49" not in words(html, 1)


@pytest.mark.long
def test_another_model_of_that_name_is_refused_in_words(manager, place, there, settings):
    manager.post(address(place, "weigh"), {"model": "tiny"})
    shutil.rmtree(there)
    model(settings.METRIC_MODELS, "tiny")
    run(job_id=Job.objects.get().pk)
    job = Job.objects.get()
    assert (job.state, job.error) == ("failed", "The model tiny is another one by now. Ask once more.")
    assert job.payload == {"project": place.project.pk}


@pytest.mark.long
def test_one_that_failed_is_begun_again(manager, place, there, tmp_path):
    there_now = manager.post(address(place, "weigh"), {"model": "tiny"}).headers["Location"]
    there.rename(tmp_path / "away")
    run(job_id=Job.objects.get().pk)
    (tmp_path / "away").rename(there)
    html = manager.get(there_now).content.decode()
    assert "The words could not be weighed. The model tiny is no longer there" in plain(html)
    assert words(weighed(manager, place), 2)
    assert Job.objects.count() == 1


def test_a_damaged_model_is_refused_in_words(manager, place, there):
    html = ""
    (there / "encoder" / "config.json").write_text("{}")
    html = weighed(manager, place)
    assert "is not the model that its card describes" in plain(html)


@pytest.mark.long
def test_many_texts_and_long_ones_are_bounded(manager, place, there):
    place.queries["q1"].references = ["word " * 2000, *(f"{number} euros" for number in range(30))]
    place.queries["q1"].save()
    html = weighed(manager, place)
    assert html.count('<h2 id="h-text-') == keyphrases.MOST_REFERENCES
    assert "It has 11 more references; the first 20 are shown." in html
    assert "This text is long: only its beginning was weighed." in html


def test_queries_of_other_projects_are_not_there(place, there):
    other = desk_world.make_place()
    desk_world.query_of(other, "q9")
    for name in ("keyphrases", "keyphrases_live"):
        theirs = reverse(f"evaluations:{name}", args=[place.project.slug, other.queries["q9"].pk])
        assert desk_world.as_("manager").get(theirs).status_code == 404
        assert desk_world.as_("stranger").get(address(place, name)).status_code == 404
    assert desk_world.as_("stranger").post(address(place, "weigh"), {"model": "tiny"}).status_code == 404


@pytest.mark.long
def test_the_page_of_metrics_leads_here_where_a_query_without_references_has_nothing_to_weigh(
    manager, place, there
):
    html = manager.get(reverse("evaluations:query", args=[place.project.slug, place.queries["q1"].pk]))
    assert f'href="{address(place)}"' in html.content.decode()
    desk_world.query_of(place, "q3")
    there_now = manager.post(address(place, "weigh", "q3"), {"model": "tiny"}).headers["Location"]
    run(job_id=Job.objects.get().pk)
    assert "Nothing to weigh" in manager.get(there_now).content.decode()


@pytest.mark.long
def test_the_host_that_weighs_finds_the_model(manager, place, there, settings, tmp_path):
    settings.DATA_STORAGE = str(tmp_path / "shared")
    manager.post(address(place, "weigh"), {"model": "tiny"})
    assert not Job.objects.exists()
    shared_store().prepare()
    weighed(manager, place)
    digest = model_named("tiny").digest
    settings.METRIC_MODELS = tmp_path / "models of another host"
    assert model_named("tiny").digest == digest
