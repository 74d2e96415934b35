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


def test_a_turn_without_options_in_the_address_has_the_defaults():
    assert of("?q=one&q=two") == Conversation((Turn("one"), Turn("two")))


def test_options_stay_when_the_last_turn_is_cleared():
    asked = Conversation((Turn("one"), Turn("two", "alpha:0.8")), (), "alpha:0.8")
    assert asked.without_last() == Conversation((Turn("one"),), (), "alpha:0.8")
    assert of(asked.without_last().address()) == asked.without_last()
    assert of(asked.cleared().address()) == Conversation(options="alpha:0.8")


def test_a_conversation_up_to_a_turn_has_the_options_of_that_turn():
    asked = Conversation((Turn("one", "alpha:0.6"), Turn("two", "alpha:0.8")), (), "alpha:0.9")
    assert asked.up_to(1) == Conversation((Turn("one", "alpha:0.6"),), (), "alpha:0.6")


def test_questions_are_kept_without_superfluous_white_space_and_invisible_characters():
    asked = Conversation().with_question("  who \n played\u0000 him\u200b? ", "")
    assert asked.questions == ["who played him?"]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (" \n\u0000 ", "Type a question."),
        ("x" * 10_000, "A question has 2,000 characters at most; this one has 10,000. Shorten it."),
    ],
)
def test_an_empty_or_endless_question_is_refused_in_words(question, why):
    with pytest.raises(RefusedError, match=why):
        Conversation().with_question(question, "")
    with pytest.raises(RefusedError, match=why):
        of(Conversation((Turn(question),)).address())


def test_the_thirty_first_turn_is_refused():
    full = Conversation(tuple(Turn(f"question {number}") for number in range(30)))
    with pytest.raises(RefusedError, match="30 turns at most"):
        full.with_question("one more", "")
    with pytest.raises(RefusedError, match="30 turns at most"):
        of("&".join(["q=x"] * 31))


def test_a_conversation_that_is_long_in_bytes_does_not_fit_an_address():
    assert Conversation((Turn("垄" * 600),)).fits_an_address
    assert not Conversation((Turn("垄" * 800),)).fits_an_address


# The drawing


def test_every_word_of_words_and_pairs_is_drawn_once_inside_of_the_drawing():
    drawing = draw({"batman": 2.0, "nolan": 1.0}, [("batman", "role", 0.4), ("nolan", "batman", 0.2)])
    assert [(dot.word, dot.scored) for dot in drawing.dots] == [
        ("batman", True), ("role", False), ("nolan", True),
    ]  # fmt: skip
    assert len(drawing.lines) == 2
    assert all(0 < dot.x < WIDTH and 0 < dot.label_y < HEIGHT for dot in drawing.dots)


def test_labels_at_the_sides_stand_outside_of_the_lines():
    drawing = draw(dict.fromkeys("abcd", 1.0), [])
    top, right, bottom, left = drawing.dots
    assert (top.anchor, right.anchor, bottom.anchor, left.anchor) == ("middle", "start", "middle", "end")
    assert top.label_y < top.y < bottom.y < bottom.label_y
    assert left.label_x < left.x < right.x < right.label_x


def test_weights_are_areas_to_look_at_and_strengths_are_widths():
    drawing = draw({"a": 2.0, "b": 1.0}, [("a", "b", 0.4), ("b", "c", 0.1)])
    large, small, unscored = drawing.dots
    assert large.radius > small.radius > unscored.radius
    assert drawing.lines[0].width > drawing.lines[1].width


def test_words_that_go_together_stand_beside_each_other():
    pairs = [("a", "d", 0.1), ("d", "b", 0.1), ("c", "e", 0.1)]
    drawing = draw(dict.fromkeys("abcde", 1.0), pairs)
    assert "".join(dot.word for dot in drawing.dots) == "adbce"


def test_the_same_words_give_the_same_drawing():
    words, pairs = {"b": 1.0, "a": 1.0}, [("a", "b", 0.5)]
    assert draw(words, pairs) == draw(dict(words), list(pairs))


def test_nothing_is_drawn_of_nothing():
    assert draw({}, []) is None


def test_one_word_stands_in_the_middle_and_a_long_one_is_shortened_on_the_drawing_only():
    (dot,) = draw({"antidisestablishmentarianism": 1.0}, []).dots
    assert (dot.x, dot.y) == (WIDTH / 2, HEIGHT / 2)
    assert dot.label == "antidisestabl…"


def test_figures_that_are_no_numbers_do_not_break_the_drawing():
    drawing = draw({"a": float("nan"), "b": 0.0}, [("a", "b", float("nan"))])
    assert [dot.radius for dot in drawing.dots] == [5.0, 5.0]
