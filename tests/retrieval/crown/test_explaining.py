"""Why a passage was found, as places in its text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.search_results import marked
from retrieval.ranking.explanation import explain
from retrieval.ranking.parameters import defaults
from tests.retrieval.crown.world import Known
from tests.scale import limit_cases

NOLAN = "Christopher Nolan made Batman movies. They earned a lot! The films of Nolan end here."
TERMS = {"nolan": 1.0, "batman": 1.0, "movies": 0.5}
EVIDENCE = Known({("films", "movies"): 0.8}, {("batman", "movies"): 0.7, ("batman", "nolan"): 0.5})


def explained(text, terms=TERMS, evidence=EVIDENCE, profile="balanced", language="en"):
    [found] = explain([text], language, terms, evidence, defaults(profile))
    return found


def shown(text, spans):
    return [text[start:end] for start, end in spans]


def test_nodes_and_edges_have_weights_strengths_and_all_their_places():
    found = explained(NOLAN)
    assert [(node.word, node.weight, node.term) for node in found.nodes] == [
        ("nolan", 1.0, "nolan"),
        ("batman", 1.0, "batman"),
        ("movies", 0.5, "movies"),
        ("films", 0.4, "movies"),
    ]
    assert shown(NOLAN, found.nodes[0].spans) == ["Nolan", "Nolan"]
    assert [(edge.first, edge.second, edge.npmi) for edge in found.edges] == [
        ("batman", "movies", 0.7),
        ("batman", "nolan", 0.5),
    ]
    assert shown(NOLAN, found.edges[0].spans) == ["Batman", "movies"]
    text = "Nolan and Batman and movies."
    assert shown(text, explained(text).keywords) == ["Nolan", "Batman", "movies"]
    assert rebuilt(marked(NOLAN, found.highlights, found.keywords)) == (
        "<mark>Christopher <b>Nolan</b> made <b>Batman</b> <b>movies</b>.</mark> They earned a lot! "
        "The <b>films</b> of <b>Nolan</b> end here."
    )


def test_at_most_five_nodes_and_edges_are_named_and_equals_stand_as_in_the_text():
    """Fault 10: their order among equals came from a set."""
    words = ["golf", "echo", "alpha", "delta", "bravo", "foxtrot", "charlie"]
    near = {(a, b): 0.5 for a in words for b in words if a < b}
    found = explained(" ".join(words), dict.fromkeys(sorted(words), 1.0), Known(near=near))
    assert [node.word for node in found.nodes] == words[:5]
    assert [(edge.first, edge.second) for edge in found.edges] == [
        ("echo", "golf"),
        ("alpha", "golf"),
        ("delta", "golf"),
        ("alpha", "echo"),
        ("delta", "echo"),
    ]


def test_a_word_is_found_as_it_is_written_and_numbers_by_balanced_only():
    text = "Les e\u0301coles, les ÉCOLES."
    found = explained(text, {"écoles": 1.0}, Known(), language="fr")
    assert shown(text, found.nodes[0].spans) == ["e\u0301coles", "ÉCOLES"]
    text = "It happened in 1984."
    assert [node.word for node in explained(text, {"1984": 1.0}).nodes] == ["1984"]
    assert explained(text, {"1984": 1.0}, profile="crown-2020").nodes == ()
    assert explained(NOLAN, {}).nodes == ()


def test_the_best_sentences_are_highlighted_more_of_them_in_longer_passages():
    for count, highlighted in ((1, 1), (2, 1), (3, 1), (4, 2), (5, 3), (9, 3)):
        assert len(explained(" ".join(["Nolan came."] * count)).highlights) == highlighted, count
    found = explained("Nolan. Batman movies. Nobody. Nothing. Nolan.")
    assert [each.number for each in found.sentences if each.is_highlighted] == [1, 2, 5]
    assert [round(each.score, 6) for each in found.sentences] == [1, 2.2, 0, 0, 1]
    # A sentence with nothing of the question is highlighted in the published profile only.
    text = "One thing. Another matter."
    assert explained(text).highlights == []
    assert shown(text, explained(text, profile="crown-2020").highlights) == ["One thing."]


def test_sentences_without_content_words_are_kept():
    """Fault 1: they were dropped from the passage."""
    text = "Nolan made it. 1999. So did he! And?"
    found = explained(text, profile="crown-2020")
    assert shown(text, [(each.start, each.end) for each in found.sentences]) == [
        *["Nolan made it.", "1999.", "So did he!", "And?"]
    ]


def test_a_text_without_content_words_has_no_nodes():
    for text in ("", "   ", "...", "1999", "the of and"):
        found = explained(text, profile="crown-2020")
        assert (found.nodes, found.edges, found.highlights) == ((), (), []), text


def test_passages_are_explained_together_as_they_are_alone():
    texts = [NOLAN, "", "Nothing of it.", "Batman movies by Nolan.", NOLAN]
    together = explain(texts, "en", TERMS, EVIDENCE, defaults())
    assert together == [explained(text) for text in texts]


def rebuilt(pieces):
    return "".join(
        f"{'<mark>' if each.opens else ''}{'<b>' if each.is_bold else ''}{each.text}"
        f"{'</b>' if each.is_bold else ''}{'</mark>' if each.closes else ''}"
        for each in pieces
    )


def test_tags_in_a_passage_and_words_like_tags_or_patterns_stay_text():
    # Fault 2: a node "b" or "mark" rewrote the tags that were already inserted.
    for word in ("b", "mark", "script"):
        text = f"<{word}>{word} alert(1)</{word}> & {word}"
        found = explained(text, {word: 1.0}, Known())
        pieces = marked(text, found.highlights, found.keywords)
        assert "".join(piece.text for piece in pieces) == text
        assert {piece.text for piece in pieces if piece.is_bold} == {word}
    text = "C++ (or a+b) [x] costs $5."
    found = explained(text, {"costs": 1.0}, Known())
    assert "<b>costs</b>" in rebuilt(marked(text, [], found.keywords))


def test_pieces_know_where_a_mark_begins_and_ends():
    pieces = marked("ab cd", [(0, 2), (3, 5)], [(1, 4)])
    assert [(each.text, each.is_marked, each.is_bold, each.opens, each.closes) for each in pieces] == [
        ("a", True, False, True, False),
        ("b", True, True, False, True),
        (" ", False, True, False, False),
        ("c", True, True, True, False),
        ("d", True, False, False, True),
    ]


spans = st.lists(st.tuples(st.integers(-3, 15), st.integers(-3, 15)), max_size=5)


@settings(max_examples=limit_cases(300), deadline=None)
@given(st.text(max_size=12), spans, spans)
def test_whatever_is_marked_the_text_is_untouched(text, sentences, words):
    pieces = marked(text, sentences, words)
    assert "".join(each.text for each in pieces) == text
    assert all(each.text for each in pieces)
    assert sum(each.opens for each in pieces) == sum(each.closes for each in pieces)


@settings(max_examples=limit_cases(200), deadline=None)
@given(st.text(alphabet="nolanbatm movies.!?\n<>&\"'é\u0301ﬁ中1", max_size=60), st.sampled_from(["en", "zh"]))
def test_places_lie_in_the_text_and_say_the_word(text, language):
    found = explained(text, language=language)
    for named in found.nodes:
        assert all(0 <= start < end <= len(text) for start, end in named.spans)
    joined = marked(text, found.highlights, found.keywords)
    assert "".join(each.text for each in joined) == text
