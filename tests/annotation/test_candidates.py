"""Candidates of queries: found once, repetitions folded with a reason, overlaps told."""

import json
import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone

from annotation.candidates import Recipe, Region, choose, overlap, overlaps, similarity
from annotation.models import CandidatePassage, Query, QuerySource
from annotation.selectors.curation import shown_candidates
from annotation.services import candidates
from annotation.services.candidates import provide_candidates, provide_for, turns_of
from annotation.services.importing import fold_candidates
from retrieval.copies import folder_of
from retrieval.passage_files import open_passages
from retrieval.services.corpora import add_passages, delete_passages
from retrieval.services.indexing import build_index
from tests.retrieval.world import make_corpus, make_project

WORDS = (
    "Countries moved towards the use of fiat money which has no intrinsic value but is declared by a "
    "government to be legal tender so that everybody has to take it when somebody pays with it"
)


def changed(text, *places):
    """The same words, with those at some places replaced."""
    return " ".join("other" if place in places else word for place, word in enumerate(text.split()))


def test_the_same_text_under_another_id_is_folded_into_the_better_ranked():
    chosen = choose([Region("a", WORDS), Region("b", WORDS.upper() + "!")], 10)
    assert [(choice.folded_into, choice.reason) for choice in chosen] == [
        (None, ""),
        (0, "The same text as number 1."),
    ]
    chosen = choose([Region("a", WORDS), Region("z", "Rain in Spain"), Region("b", WORDS + " today")], 10)
    assert [choice.folded_into for choice in chosen] == [None, None, 0]
    assert chosen[2].reason == "97% of its word triples and those of number 1 are common to both."
    chosen = choose([Region(key, WORDS) for key in "abc"], 10)
    assert [choice.folded_into for choice in chosen] == [None, 0, 0]
    ranked = [Region("a", WORDS), Region("b", WORDS), Region("c", "Rain in Spain"), Region("d", "Snow")]
    assert [choice.region.key for choice in choose(ranked, 2)] == ["a", "b", "c"]


@pytest.mark.parametrize(("places", "folded"), [((0,), True), ((5, 20), False)])
def test_the_limit_is_nine_in_ten_common_triples(places, folded):
    other = Region("b", changed(WORDS, *places))
    assert (similarity(Region("a", WORDS), other) >= 0.9) == folded
    assert (choose([Region("a", WORDS), other], 10)[1].folded_into == 0) == folded


def test_repetitions_in_writing_without_words_or_spaces_are_seen():
    regions = [Region("a", "…"), Region("b", "!?"), Region("c", "…"), Region("d", "one"), Region("e", "One.")]
    assert [choice.folded_into for choice in choose(regions, 10)] == [None, None, 0, None, 3]
    text = "茶叶由茶树的嫩叶和芽制成。绿茶、红茶和乌龙茶都来自同一种植物。"
    assert choose([Region("a", text), Region("b", text.replace("。", " "))], 10)[1].folded_into == 0
    assert similarity(Region("a", text), Region("b", "泡茶的水温会影响味道。")) < 0.2
    chosen = choose([Region("a", WORDS), Region("b", WORDS + " " + changed(WORDS, *range(0, 40, 2)))], 10)
    assert [choice.folded_into for choice in chosen] == [None, None]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [((0, 10), (9, 20), True), ((0, 10), (10, 20), False), ((5, 6), (0, 20), True), ((0, 5), (5, 6), False)],
)
def test_offsets_of_one_page_overlap_when_they_share_a_character(one, other, expected):
    first, second = (Region(str(place), "text", "page", *place) for place in (one, other))
    assert overlap(first, second) is overlap(second, first) is expected


def test_without_offsets_a_long_common_run_of_words_of_one_page_is_an_overlap():
    assert not overlap(Region("a", WORDS, "one", 0, 10), Region("b", WORDS, "other", 0, 10))
    assert not overlap(Region("a", WORDS), Region("b", WORDS))
    words = WORDS.split()
    first, second = " ".join(words[:25]), " ".join(words[10:])
    assert overlap(Region("a", first, "page"), Region("b", second, "page"))
    assert not overlap(Region("a", first, "page"), Region("b", " ".join(words[11:]), "page"))
    assert overlap(Region("a", "declared by a government to", "page"), Region("b", WORDS, "page"))
    assert not overlap(Region("a", "declared by a", "page"), Region("b", WORDS, "page"))
    text = "秋天白天变短气温下降树木不再补充叶绿素叶绿素分解以后"
    text += "叶子里原有的黄色色素就显露出来落叶铺在地上慢慢腐烂"
    assert overlap(Region("a", text[:40], "page"), Region("b", text[10:], "page"))
    assert not overlap(Region("a", text[:40], "page"), Region("b", text[11:], "page"))
    places = [(0, 10), (20, 30), (5, 25)]
    assert overlaps([Region(str(place), "t", "page", *place) for place in places]) == [(2,), (2,), (0, 1)]


def make_query(project, text, status=Query.Status.ACCEPTED, **fields):
    source = QuerySource.objects.create(
        project=project, name="test", format="jsonl", created_at=timezone.now()
    )
    key = f"q{Query.objects.count()}"
    return Query.objects.create(
        project=project, source=source, key=key, text=text, digest=key, status=status, **fields
    )


def rows(query):
    found = CandidatePassage.objects.filter(query=query).order_by("rank")
    return [(each.rank, each.key, each.folded_into and each.folded_into.key) for each in found]


@pytest.mark.django_db
def test_an_accepted_query_gets_the_best_passages_of_the_index(tmp_path):
    corpus = make_corpus(tmp_path, "a cat", {"text": "a cat sat", "title": "T", "group": "page"}, "a dog")
    query = make_query(corpus.project, "Which cat?")
    assert provide_for(corpus.project).filled == 1
    assert rows(query) == [(1, "p1", None), (2, "p2", None)]
    second = CandidatePassage.objects.get(query=query, rank=2)
    assert (second.origin, second.title, second.page) == (f"index:{corpus.slug}", "T", "page")
    assert second.score > 0


@pytest.mark.django_db
def test_repetitions_are_stored_folded_and_not_shown(tmp_path):
    corpus = make_corpus(tmp_path, "a cat sat here", "A cat sat here.", "one more cat on a mat")
    query = make_query(corpus.project, "cat")
    assert provide_candidates(query, Recipe(shown_count=2)) == 2
    assert rows(query) == [(1, "p1", None), (2, "p2", "p1"), (3, "p3", None)]
    folded = CandidatePassage.objects.get(query=query, rank=2)
    assert folded.fold_reason == "The same text as number 1."
    assert [shown.key for shown in shown_candidates([query.pk])[query.pk]] == ["p1", "p3"]


@pytest.mark.django_db
def test_only_accepted_queries_without_imported_candidates_get_some(tmp_path):
    corpus = make_corpus(tmp_path, "a cat")
    for status in ("waiting", "curated", "excluded"):
        make_query(corpus.project, "cat", status=status)
    query = make_query(corpus.project, "cat")
    CandidatePassage.objects.create(query=query, rank=1, key="theirs", text="A text.")
    assert provide_for(corpus.project).filled == 0
    assert provide_candidates(query) == 1
    assert rows(query) == [(1, "theirs", None)]


@pytest.mark.django_db
def test_repetitions_in_an_import_are_folded_but_never_what_was_chosen_there():
    query = make_query(make_project(), "cat")
    for rank, text, selected in [(3, WORDS, False), (5, WORDS, True), (9, WORDS, False), (12, "Snow", False)]:
        CandidatePassage.objects.create(
            query=query, rank=rank, key=f"c{rank}", text=text, imported_selected=selected
        )
    assert fold_candidates([query.pk]) == 1
    assert fold_candidates([query.pk]) == 0
    assert rows(query) == [(3, "c3", None), (5, "c5", None), (9, "c9", "c3"), (12, "c12", None)]
    assert CandidatePassage.objects.get(key="c9").fold_reason == "The same text as number 3."


@pytest.mark.django_db
def test_again_changes_nothing_also_when_the_passage_goes(tmp_path):
    corpus = make_corpus(tmp_path, "a cat", "another cat")
    query = make_query(corpus.project, "cat")
    provide_for(corpus.project)
    before = list(CandidatePassage.objects.filter(query=query).order_by("pk").values())
    assert provide_for(corpus.project).filled == 0
    assert provide_candidates(query) == 2
    assert list(CandidatePassage.objects.filter(query=query).order_by("pk").values()) == before
    delete_passages(corpus=corpus, keys=["p1"])
    assert shown_candidates([query.pk])[query.pk][0].text == "a cat"


@pytest.mark.django_db
def test_where_nothing_is_found_or_nothing_can_be_searched_it_is_told(tmp_path):
    corpus = make_corpus(tmp_path, "a cat")
    query = make_query(corpus.project, "quantum chromodynamics")
    provided = provide_for(corpus.project)
    assert (provided.filled, provided.empty, provided.problem) == (0, (query.pk,), "")
    make_query(corpus.project, "cat")
    (folder_of(corpus.index) / "current").write_text("{")
    assert "index build" in provide_for(corpus.project).problem
    project = make_project()
    assert provide_for(project).problem == ""
    make_query(project, "cat")
    assert "manage.py index build" in provide_for(project).problem


@pytest.mark.django_db
def test_a_query_without_passages_is_searched_again_only_when_the_index_has_changed(tmp_path, monkeypatch):
    searched = []
    real = candidates.search_conversation

    def search(*given, **options):
        searched.append(1)
        return real(*given, **options)

    monkeypatch.setattr(candidates, "search_conversation", search)
    corpus = make_corpus(tmp_path, "a cat")
    query = make_query(corpus.project, "Which dog?")
    for _ in range(3):
        assert provide_for(corpus.project).empty == (query.pk,)
    assert len(searched) == 1
    file = tmp_path / "more.jsonl"
    file.write_text('{"id": "new", "text": "a dog"}')
    add_passages(corpus=corpus, file=open_passages(file))
    build_index(corpus=corpus)
    assert (provide_for(corpus.project).filled, rows(query)) == (1, [(1, "new", None)])


@pytest.mark.django_db
def test_two_corpora_with_the_same_ids_give_two_candidates(tmp_path):
    project = make_project()
    one = make_corpus(tmp_path, "a black cat", project=project)
    other = make_corpus(tmp_path, "a white cat", project=project)
    query = make_query(project, "cat")
    provide_for(project)
    keys = CandidatePassage.objects.filter(query=query).values_list("key", flat=True)
    assert sorted(keys) == sorted([f"{one.slug}/p1", f"{other.slug}/p1"])


@pytest.mark.django_db
def test_many_queries_take_few_statements(tmp_path, django_assert_max_num_queries):
    corpus = make_corpus(tmp_path, *(f"cat number {number}" for number in range(20)))
    for number in range(30):
        make_query(corpus.project, f"cat {number}")
    with django_assert_max_num_queries(30 + 12):  # one for the texts of each query
        assert provide_for(corpus.project).filled == 30
    assert CandidatePassage.objects.count() == 300


@pytest.mark.django_db
def test_the_query_model_says_which_turns_are_searched(tmp_path):
    corpus = make_corpus(tmp_path, "batman is a hero, a hero", "the reception of guests")
    for model, keys in (("cq1", ["p1"]), ("current", ["p2"])):
        query = make_query(corpus.project, "And its reception?", context=[{"text": "Which hero is batman?"}])
        provide_for(corpus.project, Recipe(shown_count=1, ranker="bm25", query_model=model))
        assert [key for _, key, _ in rows(query)] == keys, model
    context = [{"text": "first"}, {"text": "second", "answer": "x"}, {"text": " "}]
    assert turns_of(make_query(corpus.project, "now", context=context)) == ["first", "second", "now"]


@pytest.mark.django_db
def test_what_is_shown_tells_with_which_ranks_it_overlaps(tmp_path, django_assert_num_queries):
    page = {"group": "page"}
    corpus = make_corpus(
        tmp_path,
        {"text": "cat cat cat", "start": 0, "end": 10, **page},
        {"text": "cat cat dog", "start": 20, "end": 30, **page},
        {"text": "cat dog dog", "start": 5, "end": 25, **page},
        {"text": "a cat elsewhere with more words"},
    )
    queries = [make_query(corpus.project, "cat"), make_query(corpus.project, "cat elsewhere")]
    nothing = make_query(corpus.project, "quantum")
    provide_for(corpus.project)
    with django_assert_num_queries(1):
        shown = shown_candidates([*(query.pk for query in queries), nothing.pk])
    assert sorted(shown) == [query.pk for query in queries]
    by_key = {each.key: each for each in shown[queries[0].pk]}
    assert by_key["p3"].overlaps == (by_key["p1"].rank, by_key["p2"].rank)
    assert by_key["p1"].overlaps == (by_key["p3"].rank,)
    assert by_key["p4"].overlaps == ()
    assert (by_key["p1"].start, by_key["p1"].end, by_key["p1"].page) == (0, 10, "page")


@pytest.mark.django_db(transaction=True)
def test_several_at_once_make_one_set_of_each(tmp_path):
    corpus = make_corpus(tmp_path, *(f"cat number {number}" for number in range(12)))
    queries = [make_query(corpus.project, f"cat {number}") for number in range(20)]
    filled, troubles = [], []

    def provide():
        try:
            filled.append(provide_for(corpus.project).filled)
        except Exception as error:
            troubles.append(repr(error))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=provide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (troubles, sum(filled)) == ([], 20)
    assert [len(rows(query)) for query in queries] == [10] * 20


@pytest.mark.django_db
def test_the_command_says_what_it_did_or_why_not(tmp_path):
    corpus = make_corpus(tmp_path, "a cat")
    make_query(corpus.project, "cat")
    make_query(corpus.project, "quantum")
    output = StringIO()
    call_command("candidates", corpus.project.slug, "--ranker", "bm25", "--json", stdout=output)
    assert json.loads(output.getvalue()) == {"filled": 1, "empty": 1, "notes": [], "ranker": "bm25"}
    output = StringIO()
    call_command("candidates", corpus.project.slug, "--ranker", "bm25", stdout=output)
    assert output.getvalue() == (
        "Queries that got candidates: 0.\nQueries for which nothing is found: 1. Import passages for them.\n"
    )
    project = make_project()
    make_query(project, "cat")
    with pytest.raises(CommandError, match="has an index"):
        call_command("candidates", project.slug)
    with pytest.raises(CommandError, match="no project 'nowhere'"):
        call_command("candidates", "nowhere")
    with pytest.raises(CommandError, match="-k is from 1 to 1000"):
        call_command("candidates", project.slug, "-k", "0")
