"""The conversation in the address of the search page, and the drawing of a part of the network."""

import pytest
from django.http import QueryDict

from annotation.search import Conversation, RefusedError, Turn, read_conversation
from annotation.search_results import HEIGHT, WIDTH, draw


def of(address):
    return read_conversation(QueryDict(address.removeprefix("?")))


def test_a_conversation_reads_back_from_its_own_address():
    asked = Conversation(
        (Turn("what is a monopoly"), Turn("& an <oligopoly>?", "alpha:0.8")), ("textbooks",), "alpha:0.9"
    )
    assert of(asked.address()) == asked
    assert of("?q=one&q=two") == Conversation((Turn("one"), Turn("two")))
    asked = Conversation((Turn("one"), Turn("two", "alpha:0.8")), (), "alpha:0.8")
    assert asked.without_last() == Conversation((Turn("one"),), (), "alpha:0.8")
    assert of(asked.without_last().address()) == asked.without_last()
    assert of(asked.cleared().address()) == Conversation(options="alpha:0.8")
    asked = Conversation((Turn("one", "alpha:0.6"), Turn("two", "alpha:0.8")), (), "alpha:0.9")
    assert asked.up_to(1) == Conversation((Turn("one", "alpha:0.6"),), (), "alpha:0.6")


def test_questions_lose_superfluous_white_space_and_have_their_limits():
    asked = Conversation().with_question("  who \n played\u0000 him\u200b? ", "")
    assert asked.questions == ["who played him?"]
    long = "A question has 2,000 characters at most; this one has 10,000. Shorten it."
    for question, why in ((" \n\u0000 ", "Type a question."), ("x" * 10_000, long)):
        with pytest.raises(RefusedError, match=why):
            Conversation().with_question(question, "")
        with pytest.raises(RefusedError, match=why):
            of(Conversation((Turn(question),)).address())
    full = Conversation(tuple(Turn(f"question {number}") for number in range(30)))
    with pytest.raises(RefusedError, match="30 turns at most"):
        full.with_question("one more", "")
    with pytest.raises(RefusedError, match="30 turns at most"):
        of("&".join(["q=x"] * 31))
    assert Conversation((Turn("垄" * 600),)).fits_an_address
    assert not Conversation((Turn("垄" * 800),)).fits_an_address


def test_every_word_is_drawn_once_with_its_weight_and_beside_those_that_go_with_it():
    drawing = draw({"batman": 2.0, "nolan": 1.0}, [("batman", "role", 0.4), ("nolan", "batman", 0.2)])
    assert [(dot.word, dot.scored) for dot in drawing.dots] == [
        ("batman", True), ("role", False), ("nolan", True),
    ]  # fmt: skip
    assert len(drawing.lines) == 2
    assert all(0 < dot.x < WIDTH and 0 < dot.label_y < HEIGHT for dot in drawing.dots)
    drawing = draw({"a": 2.0, "b": 1.0}, [("a", "b", 0.4), ("b", "c", 0.1)])
    large, small, unscored = drawing.dots
    assert large.radius > small.radius > unscored.radius
    assert drawing.lines[0].width > drawing.lines[1].width
    pairs = [("a", "d", 0.1), ("d", "b", 0.1), ("c", "e", 0.1)]
    drawing = draw(dict.fromkeys("abcde", 1.0), pairs)
    assert "".join(dot.word for dot in drawing.dots) == "adbce"


def test_odd_words_and_figures_do_not_break_the_drawing():
    assert draw({}, []) is None
    (dot,) = draw({"antidisestablishmentarianism": 1.0}, []).dots
    assert (dot.x, dot.y) == (WIDTH / 2, HEIGHT / 2)
    assert dot.label == "antidisestabl…"
    drawing = draw({"a": float("nan"), "b": 0.0}, [("a", "b", float("nan"))])
    assert [dot.radius for dot in drawing.dots] == [5.0, 5.0]
