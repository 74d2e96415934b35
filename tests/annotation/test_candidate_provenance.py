"""What a candidate keeps of its search, and passages from below the cut."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from annotation.candidates import Recipe, Region, choose, draw_below, drawn_below
from annotation.curation import CurationConfig
from annotation.models import CandidatePassage, Query
from annotation.selectors.curation import first, shown_candidates
from annotation.services.candidates import give_candidates, provide_for
from annotation.services.importing import Options, import_queries
from distillery.demo.campaigns import SAMPLE
from retrieval.passage_files import open_passages
from retrieval.search import search_conversation
from retrieval.services.corpora import add_passages, create_corpus
from retrieval.services.indexing import build_index
from retrieval.services.networks import build_network
from tests.annotation.test_candidates import make_query
from tests.retrieval.world import make_corpus, make_project

BM25 = Recipe(ranker="bm25")


def kept(query):
    return list(
        CandidatePassage.objects.filter(query=query).order_by("rank").values_list("retrieval", flat=True)
    )


@pytest.mark.django_db
def test_a_candidate_keeps_ranker_parameters_generation_rank_and_parts(tmp_path):
    corpus = make_corpus(tmp_path, "a cat", "a cat sat on a mat with a dog")
    query = make_query(corpus.project, "Which cat?")
    provide_for(corpus.project, BM25)
    first, second = kept(query)
    generation = first.pop("generation")
    assert (generation["engine"], generation["index"]) == ("tantivy", 1)
    score = round(CandidatePassage.objects.get(query=query, rank=1).score, 6)
    assert first == {
        "ranker": "bm25",
        "parameters": {"query_model": "cq2"},
        "rank": 1,
        "found_at": 1,
        "score": score,
        "parts": {"bm25": score},
    }
    assert second["rank"] == 2


@pytest.mark.django_db
def test_a_pool_of_two_rankers_keeps_what_each_gave(tmp_path):
    corpus = make_corpus(tmp_path, "a cat", "a dog and a cat")
    query = make_query(corpus.project, "cat", context=[{"text": "dog"}])
    provide_for(corpus.project, Recipe(ranker="rrf(bm25:cq1+bm25:current)"))
    found = {each["rank"]: each["parts"] for each in kept(query)}
    assert found[1] == {"bm25:cq1": round(1 / 62, 6), "bm25:current": round(1 / 61, 6)}


@pytest.mark.django_db
def test_without_a_network_the_candidates_say_that_the_index_alone_ordered_them(tmp_path):
    corpus = make_corpus(tmp_path, "a cat")
    query = make_query(corpus.project, "cat")
    provided = provide_for(corpus.project)
    (found,) = kept(query)
    assert found["ranker"] == "bm25"
    assert found["notes"] == list(provided.notes)
    assert "wpn build" in provided.notes[0]


@pytest.mark.django_db
def test_an_answer_that_was_found_elsewhere_becomes_candidates_once(tmp_path):
    corpus = make_corpus(tmp_path, "a cat", "a cat and a dog")
    query = make_query(corpus.project, "cat")
    answer = search_conversation([corpus], ["cat"], ranker="bm25", results=5)
    assert give_candidates(query=query, answer=answer, recipe=BM25) == 1
    assert give_candidates(query=query, answer=answer, recipe=BM25) == 0
    assert [each["rank"] for each in kept(query)] == [1, 2]


def test_options_of_a_stage_name_a_system():
    pool = "rrf(bm25:cq3+balanced:cq3:candidates=30):depth=30"
    for recipe, system in (
        (Recipe(), "balanced:cq2:candidates=100"),
        (Recipe(ranker="crown-2020", query_model="cq1", fetched=50), "crown-2020:cq1:candidates=50"),
        (Recipe(ranker="bm25", query_model="current"), "bm25:current"),
        (Recipe(ranker="pool", query_model="cq3", fetched=30), pool),
        (Recipe(shown_count=50, fetched=10, below=5), "balanced:cq2:candidates=55"),
        (Recipe(ranker="bm25:cq1"), "bm25:cq1"),
    ):
        assert recipe.system == system
    assert CurationConfig().recipe() == Recipe(10, "balanced", "cq2", 100, 0)
    options = CurationConfig(candidates=5, ranker="pool", query_model="cq3", fetched=200, below=2)
    assert options.recipe() == Recipe(5, "pool", "cq3", 200, 2)


def regions(*texts):
    return [Region(f"p{number}", text) for number, text in enumerate(texts, 1)]


def test_passages_are_drawn_from_below_the_cut_by_the_seed_without_repetitions():
    ranked = regions("one cat", "two dogs", "one cat", "three birds", "three birds", "four fish")
    choices = choose(ranked, 2)
    assert draw_below(ranked, choices, 9, "seed")[1] == 2
    assert sorted(draw_below(ranked, choices, 9, "seed")[0]) == [3, 5]
    ranked = regions(*(f"{number} {number + 1} {number + 2}" for number in range(20)))
    choices = choose(ranked, 2)
    assert draw_below(ranked, choices, 3, "a") == draw_below(ranked, choices, 3, "a")
    drawn = {place for seed in range(200) for place in draw_below(ranked, choices, 3, str(seed))[0]}
    assert drawn == set(range(2, 20))


@pytest.mark.django_db
def test_candidates_from_below_come_last_and_remember_where_they_stood(tmp_path):
    corpus = make_corpus(tmp_path, *("cat " * (20 - number) + f"w{number}" for number in range(20)))
    query = make_query(corpus.project, "cat")
    provide_for(corpus.project, Recipe(shown_count=3, ranker="bm25", below=2))
    found = list(CandidatePassage.objects.filter(query=query, folded_into=None).order_by("rank"))
    assert [drawn_below(each.retrieval) is not None for each in found] == [False] * 3 + [True] * 2
    ranks = [each.rank for each in found]
    assert ranks == sorted(ranks)
    assert ranks[4] - ranks[2] == 2
    drawn, of = drawn_below(found[-1].retrieval)
    assert (drawn, of > 2, found[-1].retrieval["rank"] > 3) == (2, True, True)


@pytest.mark.django_db
def test_a_stage_shows_its_best_and_those_from_below_the_cut(tmp_path):
    corpus = make_corpus(tmp_path, *(f"cat {'x' * number} {number}" for number in range(20)))
    query = make_query(corpus.project, "cat")
    provide_for(corpus.project, Recipe(shown_count=4, ranker="bm25", below=1))
    shown = first(shown_candidates([query.pk])[query.pk], 2)
    assert [each.below for each in shown] == [False, False, True]
    assert drawn_below({}) is None
    assert drawn_below({"below": {"drawn": 2, "of": 40}}) == (2, 40)


@pytest.mark.django_db
def test_the_command_takes_any_system_that_there_is(tmp_path):
    corpus = make_corpus(tmp_path, "a cat", "a dog")
    query = make_query(corpus.project, "cat")
    output = StringIO()
    system = "rrf(bm25:cq1+bm25:current)"
    call_command("candidates", corpus.project.slug, "--ranker", system, "--json", stdout=output)
    assert json.loads(output.getvalue()) == {"filled": 1, "empty": 0, "notes": [], "ranker": system}
    assert kept(query)[0]["ranker"] == system
    corpus = make_corpus(tmp_path, "a cat")
    make_query(corpus.project, "cat")
    with pytest.raises(CommandError, match="There is no system 'magic'"):
        call_command("candidates", corpus.project.slug, "--ranker", "magic")
    with pytest.raises(CommandError, match="--below is from 0 to 10"):
        call_command("candidates", corpus.project.slug, "--below", "11")


@pytest.fixture(scope="module")
def textbooks(tmp_path_factory, django_db_setup, django_db_blocker):
    """The sample's passages with their index and word network; its conversation, with candidates."""
    with django_db_blocker.unblock(), transaction.atomic():
        project = make_project()
        corpus = create_corpus(project=project, slug="textbooks", title="Two textbooks")
        add_passages(corpus=corpus, file=open_passages(SAMPLE / "passages.jsonl"))
        build_index(corpus=corpus)
        build_network(corpus=corpus)
        import_queries(
            project=project, path=SAMPLE / "conversation.jsonl", options=Options(start_at="curation")
        )
        assert provide_for(project, Recipe(shown_count=8)).notes == ()
        yield project
        transaction.set_rollback(True)


@pytest.mark.long
def test_the_shipped_conversation_has_five_turns_with_replies(textbooks):
    last = Query.objects.get(project=textbooks, key="own/money/5")
    assert [turn["text"] for turn in last.context] == [
        "What is money used for?",
        "What would trade be like without it?",
        "How does fiat money differ from gold?",
        "How does the Federal Reserve see to it that enough currency circulates?",
    ]
    assert all(turn["answer"] for turn in last.context)


@pytest.mark.long
def test_each_of_its_turns_finds_a_passage_that_answers_it(textbooks):
    for turn in range(1, 6):
        query = Query.objects.get(project=textbooks, key=f"own/money/{turn}")
        keys = {each.key for each in shown_candidates([query.pk])[query.pk]}
        assert set(query.extra["truth"]["passages"]) <= keys, turn
    best = kept(query)[0]
    assert best["ranker"] == "balanced"
    assert set(best["parts"]) >= {"bm25", "node", "edge", "pos", "coverage", "early", "feedback"}
    assert (best["parameters"]["query_model"], best["generation"]["index"]) == ("cq2", 1)
    assert "network" in best["generation"]
