"""Pairs as word pieces: every word of an answer is classified once, by its own first piece."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distillery_learned.metrics.encoders import encoder
from distillery_learned.metrics.pieces import windows
from metrics.errors import MetricError
from tests.learned import tiny
from tests.scale import limit_cases

TEXTS = st.text(
    st.one_of(
        st.sampled_from("abcde 12.,'\n\u0301\u200b\x00🐢Ⅷß漢  _-"),
        st.characters(),  # any character, also half of a surrogate pair
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return encoder(tiny.bert(tmp_path_factory.mktemp("bert"))).tokenizer


@pytest.fixture(scope="module")
def bytes_(tmp_path_factory):
    texts = ["it's the price... of a book!! they're 'red' and we've 20"] * 3
    return encoder(tiny.roberta(tmp_path_factory.mktemp("roberta"), texts)).tokenizer


@pytest.fixture(scope="module")
def pieces_with_blanks():
    """A sentencepiece-like tokeniser, whose pieces hold the blank before them and say so in their places."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789.,'▁", "▁the", "▁pri", "ce", "▁a", "▁is", "..."]
    vocabulary = [
        ("<unk>", 0.0),
        ("<s>", 0.0),
        ("</s>", 0.0),
        *((piece, -len(piece) * 0.9) for piece in letters),
    ]
    made = Tokenizer(models.Unigram(vocabulary, unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", eos_token="</s>", pad_token="<s>", model_max_length=64
    )


@pytest.fixture(params=["bert", "bytes_", "pieces_with_blanks"])
def tokenizer(request):
    return request.getfixturevalue(request.param)


def said(tokenizer, window):
    """The pieces of a window, those of its words in brackets."""
    pieces = tokenizer.convert_ids_to_tokens(window.ids)
    return " ".join(f"[{piece}]" if at in window.firsts else piece for at, piece in enumerate(pieces))


def test_a_pair_is_framed_as_the_tokeniser_does_and_words_have_their_first_piece(bert) -> None:
    pair = ("How much is it?", "It costs 450 euros.")
    (window,), (words,) = windows(bert, [pair], 64)
    assert list(window.ids) == bert(*pair)["input_ids"]
    assert list(window.types) == bert(*pair)["token_type_ids"]
    assert said(bert, window) == ("[CLS] how much is it ? [SEP] [it] [costs] [4] ##5 ##0 [euros] [.] [SEP]")
    assert list(window.word_numbers) == list(range(len(words))) == [0, 1, 2, 3, 4]


def test_without_question_the_answer_stands_alone(bert, bytes_) -> None:
    for tokenizer in (bert, bytes_):
        (window,), _ = windows(tokenizer, [("How much?", "It costs 450 euros.")], 64, with_question=False)
        assert list(window.ids) == tokenizer("It costs 450 euros.")["input_ids"]
        assert set(window.types) <= {0}


def test_a_tokeniser_without_types_gets_none_and_its_own_frame(bytes_) -> None:
    pair = ("How much?", "a book")
    (window,), _ = windows(bytes_, [pair], 64)
    assert list(window.ids) == bytes_(*pair)["input_ids"]
    assert window.types == []


def test_words_that_share_a_piece_are_both_classified_by_it(bytes_) -> None:
    (window,), (words,) = windows(bytes_, [("", "it's...")], 64, with_question=False)
    assert [(begin, end) for begin, end in words] == [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    assert list(window.word_numbers) == [0, 1, 2, 3, 4, 5]
    assert window.firsts[1] == window.firsts[2]


def test_a_combining_mark_belongs_to_the_piece_that_covers_it(bert) -> None:
    (window,), (words,) = windows(bert, [("", "bo\u0301ok is")], 64)
    assert len(words) == len(window.word_numbers) == 4
    assert window.firsts[0] == window.firsts[1] == window.firsts[2] == window.firsts[3] - 1


def test_an_answer_without_words_has_no_window(tokenizer) -> None:
    found, words = windows(tokenizer, [("a", ""), ("a", " \n"), ("", "a")], 64)
    assert [window.pair for window in found] == [2]
    assert [len(each) for each in words] == [0, 0, 1]
    assert windows(tokenizer, [], 64) == ([], [])


def test_a_word_that_the_tokeniser_drops_is_in_no_window(bert) -> None:
    (window,), (words,) = windows(bert, [("a", "the \x00 book")], 64)
    assert len(words) == 3
    assert list(window.word_numbers) == [0, 2]


def test_a_long_question_is_cut_and_leaves_room_for_the_answer(tokenizer) -> None:
    found, _ = windows(tokenizer, [("the " * 100, "a book is red")], 16)
    assert max(len(window.ids) for window in found) <= 16
    assert [word for window in found for word in window.word_numbers] == [0, 1, 2, 3]


def test_too_little_room_is_refused(bert) -> None:
    with pytest.raises(MetricError, match="needs at least 16 word pieces, not 15"):
        windows(bert, [("a", "b")], 15)


def test_a_long_answer_is_read_in_windows_that_overlap_by_half(bert) -> None:
    answer = " ".join(["the"] * 40)
    found, _ = windows(bert, [("a", answer)], 24)
    assert [len(window.ids) for window in found] == [24] * len(found)
    assert [word for window in found for word in window.word_numbers] == list(range(40))
    for window in found[1:-1]:  # 20 pieces of the answer each; words come from the middle
        assert min(window.firsts) >= 3 + 5
        assert max(window.firsts) <= 3 + 15


@settings(max_examples=limit_cases(150), deadline=None)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), max_size=3), longest=st.integers(16, 40), asked=st.booleans())
def test_each_word_is_in_exactly_one_window_by_its_own_piece(
    bert, bytes_, pieces_with_blanks, pairs, longest, asked
) -> None:
    for tokenizer in (bert, bytes_, pieces_with_blanks):
        found, words = windows(tokenizer, pairs, longest, with_question=asked)
        seen: dict[int, list[int]] = {}
        for window in found:
            assert window.word_numbers
            assert len(window.ids) <= longest
            assert len(window.types) in (0, len(window.ids))
            assert len(window.firsts) == len(window.word_numbers)
            assert list(window.firsts) == sorted(window.firsts)
            seen.setdefault(window.pair, []).extend(window.word_numbers)
        for pair, (_, answer) in enumerate(pairs):
            clean = answer.encode("utf-8", "replace").decode()
            offsets = tokenizer(clean, add_special_tokens=False, return_offsets_mapping=True)[
                "offset_mapping"
            ]
            covered = [
                word
                for word, (begin, end) in enumerate(words[pair])
                if any(left < end and begin < right for left, right in offsets)
            ]
            assert seen.get(pair, []) == covered


@settings(max_examples=limit_cases(100), deadline=None)
@given(answer=TEXTS)
def test_the_first_piece_begins_in_its_word_or_covers_it(bert, bytes_, pieces_with_blanks, answer) -> None:
    for tokenizer in (bert, bytes_, pieces_with_blanks):
        clean = answer.encode("utf-8", "replace").decode()
        given_ = tokenizer(clean, return_offsets_mapping=True)
        found, (words,) = windows(tokenizer, [("", answer)], 4096, with_question=False)
        for window in found:
            assert list(window.ids) == given_["input_ids"]
            for first, word in zip(window.firsts, window.word_numbers, strict=True):
                begin, end = words[word]
                left, right = given_["offset_mapping"][first]
                left += len(clean[left:right]) - len(clean[left:right].lstrip())
                assert left < end
                assert begin < right
                starts = [
                    at
                    for at, (other, last) in enumerate(given_["offset_mapping"])
                    if other < last
                    and begin <= other + len(clean[other:last]) - len(clean[other:last].lstrip()) < end
                    and clean[other:last].strip()
                ]
                assert first == (starts[0] if starts else first)
