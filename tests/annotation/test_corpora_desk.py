"""Corpora on the desk: what is shown, files that are added, what is built, what is removed."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.corpora import CorpusForm
from core.jobs import runner
from core.jobs.models import Job, JobState
from core.jobs.services import cancel
from core.projects.models import Event
from retrieval.models import Corpus, Passage, WordNetwork
from retrieval.services.corpora import create_corpus
from tests.desk.conftest import HOSTILE, as_, endpoint, manager, people, project  # noqa: F401
from tests.retrieval.world import add as fill
from tests.retrieval.world import make_corpus, search
from tests.workbooks import write_workbook

pytestmark = pytest.mark.django_db
LIST, NEW = "/desk/projects/reading/corpora/", "/desk/projects/reading/new-corpus/"
LINES = [
    {"id": "a", "text": "Cats purr all day."},
    {"id": "b", "text": "Dogs bark."},
    {"id": "c", "text": "cats PURR all day"},
]


def file_of(*records, name="pets.jsonl"):
    return SimpleUploadedFile(name, "".join(json.dumps(each) + "\n" for each in records).encode())


def entered(**fields):
    """A filled form, as a browser sends it."""
    return {
        "repeats": "report",
        "same_id": "refuse",
        "split": "",
        "once": CorpusForm()["once"].value(),
        **fields,
    }


def sent(client, address, data):
    """Both steps: the file is uploaded, and the form behind it sent; the answer to the second."""
    data = dict(data)
    uploaded = client.post(address, {"file": data.pop("file")})
    return client.post(uploaded.url, {**data, "start": "1"}) if uploaded.status_code == 302 else uploaded


def done(answer):
    """Run the job that the answer leads to, and look at its page again."""
    job = Job.objects.latest("pk")
    assert answer.url == f"/desk/projects/reading/corpus-work/{job.pk}/"
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    return job


def at(name, *parts):
    return reverse(f"annotation:{name}", args=["reading", *parts])


def test_from_an_upload_to_a_hit(manager, as_, project):
    page = manager.get(LIST).content.decode()
    assert "A corpus holds passages that editors answer queries from" in page and NEW in page
    assert NEW not in as_("viewer").get(LIST).content.decode()
    job = done(sent(manager, NEW, entered(file=file_of(*LINES), licence="CC0", title="Our pets")))
    assert (job.state, job.result["added"], job.result["repeats"]) == ("done", 3, {"words": 1})
    page = manager.get(at("corpus_job", job.pk)).content.decode()
    assert "3 passages added." in page and "c has the words of a" in page
    corpus = Corpus.objects.get(project=project)
    facts = (corpus.slug, corpus.title, corpus.licence, corpus.language)
    assert facts == ("pets", "Our pets", "CC0", project.language)
    assert done(manager.post(at("corpus_index", "pets"))).result == {"passages": 3, "added": 3}
    assert [hit.passage.key for hit in search([corpus], "bark")] == ["b"]
    page = manager.get(LIST).content.decode()
    assert "Our pets" in page and "ready" in page and "not built" in page


def test_what_is_added_is_found_without_another_word(manager, project):
    done(sent(manager, NEW, entered(file=file_of(*LINES))))
    runner.run(job_id=Job.objects.get(state=JobState.QUEUED).pk)
    assert [hit.passage.key for hit in search([Corpus.objects.get()], "bark")] == ["b"]


def test_the_network_is_built_by_a_job(manager, project, tmp_path):
    make_corpus(tmp_path, "red cats purr", "black cats purr", project=project, slug="pets")
    job = done(manager.post(at("corpus_network", "pets")))
    assert job.state == "done", job.error
    assert (job.result["passages"], job.result["words"]) == (2, 4)
    assert WordNetwork.objects.get().state == "ready"
    page = manager.get(at("corpus_job", job.pk)).content.decode()
    assert "The network counts 2 passages: 4 words" in " ".join(page.split())


def test_documents_are_split_and_repetitions_left_out(manager, project):
    fields = {"split": "sentences", "size": "1", "stride": "1", "repeats": "skip", "near": "0.8"}
    document = {"id": "a", "text": "Oaks grow slowly. They live long. Oaks grow slowly!"}
    job = done(sent(manager, NEW, entered(file=file_of(document), slug="oaks", **fields)))
    assert (job.result["added"], job.result["examples"]) == (2, ["a#3 has the words of a#1"])
    page = manager.get(at("corpus", "oaks")).content.decode()
    assert "characters 0 to 17" in page and "They live long." in page


def test_a_refused_file_leaves_no_corpus_and_its_faults_are_shown(manager, project):
    job = done(sent(manager, NEW, entered(file=file_of({"id": "a", "text": ""}))))
    assert job.state == JobState.FAILED
    page = manager.get(at("corpus_job", job.pk)).content.decode()
    assert "pets.jsonl: line 1 [text]: it is missing or empty." in page and "give another file" in page
    assert not Corpus.objects.filter(project=project).exists()


def test_a_refused_file_leaves_the_corpus_that_was_there(manager, project, tmp_path):
    make_corpus(tmp_path, {"id": "a", "text": "Cats."}, project=project, slug="pets")
    job = done(sent(manager, at("corpus_add", "pets"), entered(file=file_of(*LINES))))
    page = manager.get(at("corpus_job", job.pk)).content.decode()
    assert "the id &#x27;a&#x27; is in the corpus already" in page
    assert Passage.objects.count() == 1
    job = done(sent(manager, at("corpus_add", "pets"), entered(file=file_of(*LINES), skip_known="on")))
    assert (job.result["known"], Passage.objects.count()) == (1, 3)


def test_what_cannot_be_is_said_in_the_form_and_nothing_is_made(manager, project):
    create_corpus(project=project, slug="taken")
    for fields, words in [
        ({"split": "sentences", "size": "500", "stride": "1"}, "A window has 1 to 100 sentences, not 500"),
        ({"split": "words", "size": "", "stride": ""}, "A window has 1 to 2,000 words, not 0"),
        ({"repeats": "skip", "near": "7"}, "not 7"),
        ({"repeats": "skip", "near": "nan"}, "Enter a number"),
        ({"slug": "two words"}, "valid"),
        ({"slug": "taken"}, "There is already a corpus"),
        ({"file": ""}, "This field is required"),
        ({"file": SimpleUploadedFile("empty.jsonl", b"")}, "empty"),
    ]:
        answer = sent(manager, NEW, entered(**{"file": file_of(*LINES), **fields}))
        assert (answer.status_code, words in answer.content.decode()) == (422, True), fields
        assert (Corpus.objects.count(), Job.objects.count()) == (1, 0)


def test_a_form_that_is_sent_twice_gives_one_job_and_an_attempt_that_died_adds_nothing_twice(
    manager, project, tmp_path
):
    make_corpus(tmp_path, project=project, slug="pets", index=False)
    form = entered()
    for _ in range(2):
        answer = sent(manager, at("corpus_add", "pets"), {**form, "file": file_of(*LINES)})
    assert Job.objects.count() == 1
    job = done(answer)
    assert job.result["added"] == 3
    runner.run(job_id=job.pk)
    assert Passage.objects.count() == 3
    assert Event.objects.filter(action="passages.added").count() == 1


def test_a_cancelled_addition_leaves_nothing(manager, project, tmp_path):
    make_corpus(tmp_path, project=project, slug="pets", index=False)
    answer = sent(manager, at("corpus_add", "pets"), entered(file=file_of(*LINES)))
    job = Job.objects.get()
    page = manager.get(answer.url).content.decode()
    assert "Starting" in page and at("corpus_cancel", job.pk) in page
    manager.post(at("corpus_cancel", job.pk))
    runner.run(job_id=job.pk)
    assert Passage.objects.count() == 0
    assert "Nothing of the file is added" in manager.get(answer.url).content.decode()


def test_building_twice_at_once_is_one_job_and_nothing_is_removed_meanwhile(manager, project, tmp_path):
    make_corpus(tmp_path, "Cats.", project=project, slug="pets", index=False)
    first, second = (manager.post(at("corpus_index", "pets")) for _ in range(2))
    assert first.url == second.url and Job.objects.count() == 1
    assert "A job is working on this corpus" in manager.get(at("corpus", "pets")).content.decode()
    answer = manager.post(at("corpus_remove", "pets"), {"name": "pets"}, follow=True)
    assert "Wait until it is done, or cancel it first" in answer.content.decode()
    cancel(job_id=Job.objects.get().pk)
    for wrong in ({}, {"name": "pet"}):
        answer = manager.post(at("corpus_remove", "pets"), wrong, follow=True)
        assert "Type &#x27;pets&#x27; to remove the corpus" in answer.content.decode()
    job = done(manager.post(at("corpus_remove", "pets"), {"name": " pets "}))
    assert (job.state, Corpus.objects.count(), Passage.objects.count()) == ("done", 0, 0)
    assert "The corpus is removed." in manager.get(at("corpus_job", job.pk)).content.decode()


def test_an_index_that_lacks_passages_says_so(manager, project, tmp_path):
    corpus = make_corpus(tmp_path, "Cats.", project=project, slug="pets")
    fill(corpus, tmp_path, {"id": "new", "text": "Dogs."})
    page = manager.get(LIST).content.decode()
    assert "out of date" in page and "It holds 1 of 2 passages." in page


def test_hostile_text_is_text(manager, project, tmp_path):
    record = {"id": HOSTILE, "text": HOSTILE, "title": HOSTILE, "group": HOSTILE}
    make_corpus(
        tmp_path, record, project=project, slug="pets", title=HOSTILE, licence=HOSTILE[:80], index=False
    )
    for page in (LIST, at("corpus", "pets"), at("corpus_add", "pets")):
        assert "<script>alert" not in manager.get(page).content.decode()
    file = file_of({"id": 1, "text": ""}, name=f"{HOSTILE[:20]}.jsonl")
    job = done(sent(manager, NEW, entered(file=file, slug="x")))
    page = manager.get(at("corpus_job", job.pk)).content.decode()
    assert "<script>" not in page.partition("<main")[2].partition("</main")[0]


def staged(manager, content, name):
    """The address of the second step."""
    return manager.post(NEW, {"file": SimpleUploadedFile(name, content)}).url


GERMAN = "Nr;Antwort;Thema\n7;Die Eiche wächst über 500 Jahre;Bäume\n7;Natürlich länger;Bäume\n".encode(
    "cp1252"
)


def test_the_second_step_shows_the_first_rows_and_lets_columns_be_chosen(manager, project):
    address = staged(manager, GERMAN, "trees.csv")
    page = manager.get(address).content.decode()
    assert "CSV, separated by semicolon, Windows-1252 (Western Europe), a guess" in page
    assert "there is no column &#x27;id&#x27;, only Nr, Antwort, Thema" in page
    chosen = {"column_id": "Nr", "column_text": "Antwort", "column_title": "Thema"}
    page = manager.post(address, entered(**chosen, look="1")).content.decode()
    assert "Die Eiche wächst über 500 Jahre" in page and "would be refused" not in page
    assert not Job.objects.exists()
    job = done(manager.post(address, entered(**chosen, same_id="number", start="1")))
    assert job.result["counts"] == {"rows_read": 2, "used": 2, "merged": 0, "repeats": 0, "refused": 0}
    assert list(Passage.objects.order_by("pk").values_list("key", flat=True)) == ["7", "7-2"]
    page = manager.get(at("corpus_job", job.pk)).content.decode()
    assert "<strong>2</strong> rows read" in page and "line 3: &#x27;7&#x27; became &#x27;7-2&#x27;" in page


def test_another_file_and_one_that_was_refused_keep_what_was_entered(manager, project):
    address = staged(manager, GERMAN, "trees.csv")
    fields = {"column_id": "Nr", "column_text": "Antwort", "title": "Our trees", "same_id": "first"}
    more = SimpleUploadedFile("more.csv", GERMAN + b"8;Ja;x\n")
    answer = manager.post(address, entered(**fields, look="1", file=more))
    page = answer.content.decode()
    assert "more.csv" in page and 'value="Our trees"' in page and "Ja" in page
    assert '<option value="first" selected>' in page and address not in page
    assert not Job.objects.exists()
    fields = {"column_id": "Nr", "column_text": "Antwort", "title": "Our trees", "slug": "trees"}
    job = done(manager.post(address, entered(**fields, start="1")))
    assert job.state == JobState.FAILED and "the id '7' is on line 2 already, with another text" in job.error
    again = manager.get(f"{address}?like={job.pk}").content.decode()
    assert f"{address}?like={job.pk}" in manager.get(at("corpus_job", job.pk)).content.decode()
    assert 'value="Our trees"' in again and '<option value="Antwort" selected>' in again
    assert manager.get(f"{address}?like=99999").status_code == 200


def test_a_sheet_of_a_workbook_is_chosen(manager, project, tmp_path):
    sheets = {"Notes": [["id", "text"], ["n", "not this"]], "Pets": [["id", "text"], [3.0, "A red cat."]]}
    address = staged(manager, write_workbook(tmp_path / "a.xlsx", sheets).read_bytes(), "a.xlsx")
    page = manager.get(address).content.decode()
    assert "a workbook, sheet &#x27;Notes&#x27;" in page and '<option value="Pets">' in page
    job = done(manager.post(address, entered(sheet="Pets", start="1")))
    assert (job.state, Passage.objects.get().key) == ("done", "3")


def test_a_file_that_cannot_be_read_is_said_in_the_second_step(manager, project):
    for content in (b"\x00\x01noise" * 100, b"PK\x03\x04rest", b"PAR1 no parquet", b""):
        uploaded = manager.post(NEW, {"file": SimpleUploadedFile("x.bin", content)})
        page = manager.get(uploaded.url) if uploaded.status_code == 302 else uploaded
        assert page.status_code in (200, 422) and 'role="alert"' in page.content.decode()
    assert manager.get(at("corpus_new_look", "0" * 64)).status_code == 404


def test_the_list_asks_as_many_questions_for_many_corpora_as_for_few(manager, project, tmp_path):
    counted = []
    for number in (1, 3):
        for _ in range(number):
            make_corpus(tmp_path, "Cats.", project=project, index=False)
        with CaptureQueriesContext(connection) as queries:
            manager.get(LIST)
        counted.append(len(queries))
    assert counted[0] == counted[1]
