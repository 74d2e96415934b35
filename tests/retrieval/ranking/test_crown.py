"""CROWN as a ranker, over collections without a database."""

import pytest

from retrieval.errors import EmptyQueryError
from retrieval.ranking.systems import parse_system

SENTENCES = (
    "Nolan made the Batman movies. The movies were long.",
    "Alfred was played by Caine in the Batman movies of Nolan.",
    "Harvey Dent was played by Eckhart. Batman met him.",
    "The box office of the movies was good. People played games.",
    "Guests were received in the office. The box was empty.",
)
TURNS = ("when did nolan make batman movies", "who played alfred", "and harvey dent?")


@pytest.fixture
def batman(collection_of):
    return collection_of(*SENTENCES, network=True)


@pytest.mark.parametrize("system", ["balanced", "crown-2020"])
def test_a_follow_up_finds_what_the_conversation_is_about_by_the_weighted_sum_of_the_parts(batman, system):
    ranking = parse_system(system).rank([batman], TURNS[:2], 3)
    assert ranking.ranker == system
    assert ranking.results[0].pk == 2
    assert ranking.notes == []
    ranking = parse_system(system).rank([batman], TURNS, 5)
    weights = ranking.parameters["weights"]
    for each in ranking.results:
        assert set(each.parts) == set(weights)
        assert each.score == pytest.approx(sum(weights[name] * each.parts[name] for name in weights))
    places = list(range(1, len(ranking.results) + 1))
    assert [each.rank for each in ranking.results] == places
    assert sorted(each.found_at for each in ranking.results) == places


def test_the_query_has_the_questions_words_first_and_earlier_ones_by_weight(batman):
    terms = parse_system("balanced").rank([batman], TURNS, 5).terms
    assert list(terms)[:2] == ["harvey", "dent"]
    assert (terms["dent"], terms["nolan"], terms["alfred"]) == (1.0, 1.0, pytest.approx(2 / 3))
    [best] = parse_system("balanced").rank([batman], ["who played alfred"], 1).results
    [first, *_] = parse_system("balanced").rank([batman], ["who played alfred"], 5).results
    assert (best.pk, best.score) == (first.pk, first.score)
    ranking = parse_system("balanced").rank([batman], ["zebras gallop"], 5)
    assert ranking.results == []
    assert ranking.notes == ["No passage has any of these words: zebra, gallop."]
    with pytest.raises(EmptyQueryError):
        parse_system("balanced").rank([batman], ["…"], 5)
    question = ("batman " + " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(600)) * 9)[
        :10_000
    ]
    ranking = parse_system("balanced").rank([batman], [question], 5)
    assert ranking.results
    assert len(ranking.terms) <= 256
    system = parse_system("rrf(balanced+crown-2020)")
    assert system.rank([batman], TURNS, 5) == system.rank([batman], TURNS, 5)


def test_numbers_are_words_of_balanced_and_none_of_the_published_profile(collection_of):
    collection = collection_of("Movies of 2005 and other years.", "Movies of other times.", network=True)
    assert "2005" in parse_system("balanced").rank([collection], ["movies 2005"], 5).terms
    assert "2005" not in parse_system("crown-2020").rank([collection], ["movies 2005"], 5).terms


def test_without_a_network_the_order_is_that_of_bm25_and_a_note_says_what_to_run(collection_of):
    collection = collection_of(*SENTENCES)
    ranking = parse_system("balanced:cq1").rank([collection], TURNS, 5)
    plain = parse_system("bm25:cq1").rank([collection], TURNS, 5)
    assert ranking.ranker == "bm25:cq1"
    assert ranking.results == plain.results
    [note] = ranking.notes
    assert "no word proximity network" in note and "manage.py wpn build" in note


def test_function_words_alone_are_ranked_by_bm25(collection_of):
    collection = collection_of("To be or not to be.", "Other words.", network=True)
    ranking = parse_system("balanced").rank([collection], ["to be or not to be"], 5)
    assert [each.pk for each in ranking.results] == [1]
    assert ranking.notes == ["The question has function words only, so the order is BM25's."]


def test_titles_count_as_the_first_sentence(collection_of):
    collection = collection_of(
        {"id": "a", "title": "Asthma", "text": "Symptoms are a cough and little breath."},
        {"id": "b", "title": "Gout", "text": "Symptoms are pain. Some say asthma is another thing."},
        network=True,
    )
    ranking = parse_system("balanced").rank([collection], ["symptoms of asthma"], 5)
    assert [each.pk for each in ranking.results] == [1, 2]
    assert ranking.results[0].raw["coverage"] == pytest.approx(1.0)


def test_several_collections_are_scored_together(collection_of, batman):
    other = collection_of("Alfred is a butler.", "The Batman movies were played.", network=True)
    other.name = "other"
    ranking = parse_system("balanced").rank([batman, other], TURNS[:2], 10)
    assert {each.collection for each in ranking.results} == {batman.name, "other"}
    assert max(each.parts["bm25"] for each in ranking.results) == 1.0
    assert set(ranking.generations) == {batman.name, "other"}
    assert [each.score for each in ranking.results] == sorted(
        (each.score for each in ranking.results), reverse=True
    )


@pytest.mark.parametrize("system", ["balanced", "crown-2020"])
def test_two_halves_that_are_the_same_rank_alike(collection_of, system):
    one, other = collection_of(*SENTENCES, network=True), collection_of(*SENTENCES, network=True)
    other.name = "other"
    both = parse_system(system).rank([one, other], TURNS, 10).results
    assert [each.pk for each in both[::2]] == [each.pk for each in both[1::2]]
    alone = parse_system(system).rank([one], TURNS, 10).results
    if system == "balanced":  # ranks of the published profile change with the number of candidates
        assert [each.pk for each in both if each.collection == "other"] == [each.pk for each in alone]
