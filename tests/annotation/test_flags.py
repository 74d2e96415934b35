"""Each flag on texts made by hand, in English, Chinese and Arabic; and what holds for all texts."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation import flag_checks, likeness
from annotation.flag_checks import flags_of
from annotation.flags import FLAGS, Flag, FlaggedAnswer, FlagQuery, Limits, Work, details, measured
from annotation.likeness import (
    Passages,
    copied,
    fold,
    folded,
    longest_run,
    mostly_spaceless,
    shingles,
    tokens,
)
from tests.scale import limit_cases

LIMITS = Limits()
ENGLISH = (
    "Rome is the capital city of Italy. It has been a major human settlement for almost three millennia, "
    "and lies along the shores of the Tiber."
)
CHINESE = "罗马是意大利的首都,也是该国最大的城市,位于台伯河畔,有将近三千年的历史。"
ARABIC = "روما هي عاصمة إيطاليا وأكبر مدنها وتقع على ضفاف نهر التيبر في وسط شبه الجزيرة الإيطالية منذ القدم."


def names(flags):
    return [flag.name for flag in flags]


def texts_at(text, flag):
    return [text[span["start"] : span["end"]] for span in flag.evidence["spans"]]


def test_words_keep_their_offsets_and_lose_case_marks_and_tatweel():
    text = "Don't CAFÉ, e\u0301l ١٢ كـتـابٌ"
    assert [text[token.start : token.end] for token in tokens(text)] == [
        "Don't", "CAFÉ", "e\u0301l", "١٢", "كـتـابٌ"
    ]  # fmt: skip
    assert folded(text) == ("don't", "cafe", "el", "١٢", "كتاب")
    assert folded("罗马2024年IBM") == ("罗", "马", "2024", "年", "ibm")
    assert folded("ひらガナ") == ("ひ", "ら", "カ", "ナ")
    assert mostly_spaceless(tokens("罗马 Rome 首都"))
    assert not mostly_spaceless(tokens("Rome is 罗"))
    assert fold("\uff32\uff2f\uff2d\uff25 \ufb01n ß") == "rome fin ss"
    assert shingles("The capital, the Capital") == {"the", "capital"}
    assert shingles("罗马首都") == {"罗马", "马首", "首都"}
    assert shingles("罗") == {"罗"}
    assert shingles("") == frozenset()


@given(st.text(max_size=300))
def test_tokens_lie_in_order_inside_any_text(text):
    at = 0
    for token in tokens(text):
        assert at <= token.start < token.end <= len(text)
        assert token.folded
        at = token.end


def test_a_word_from_a_passage_is_no_offence_but_a_sentence_is_flagged_with_its_place():
    assert copied("Rome", Passages([ENGLISH]), LIMITS) == []
    assert copied("It is Rome, the capital city of Italy.", Passages([ENGLISH]), LIMITS) == []
    text = "I read: it has been a MAJOR human settlement for almost three millennia and lies along. Yes."
    run, share = copied(text, Passages(["Nothing here.", ENGLISH]), LIMITS)
    assert (run.name, run.value, run.limit) == ("copy-run", 14.0, 12.0)
    assert texts_at(text, run) == [
        "it has been a MAJOR human settlement for almost three millennia and lies along"
    ]
    span = run.evidence["spans"][0]
    assert span["passage"] == 1
    assert ENGLISH[span["passage_start"] : span["passage_end"]] == (
        "It has been a major human settlement for almost three millennia, and lies along"
    )
    assert (share.name, share.value) == ("copy-share", round(14 / 17, 4))


def test_short_runs_patched_together_are_a_share():
    text = "capital city of Italy it has also been a major human settlement, and lies along the shores of it"
    flags = copied(text, Passages([ENGLISH]), LIMITS)
    assert names(flags) == ["copy-share"]
    assert texts_at(text, flags[0]) == [
        "capital city of Italy it has",
        "been a major human settlement",
        "and lies along the shores of",
    ]
    passages = Passages(["one two three four five six", "seven eight nine ten eleven twelve"])
    assert longest_run("four five six seven eight nine", Passages(["four five six", "seven eight nine"])) == 3
    assert copied("one two three four five six seven eight nine ten eleven twelve", passages, LIMITS)[
        0
    ].name == ("copy-share")


def test_copied_chinese_and_arabic_is_found():
    assert copied("意大利的首都是罗马", Passages([CHINESE]), LIMITS) == []
    text = "罗马是意大利的首都也是该国最大的城市位于台伯河畔"
    run, share = copied(text, Passages([CHINESE]), LIMITS)
    assert (run.value, run.limit) == (24.0, 24.0)
    assert share.value == 1.0
    text = "رُوما هيَ عاصمةُ إيطاليا وأكبر مدنها وتقع على ضفاف نهر التيبر في وسط شبه الجزيرة"
    run, _ = copied(text, Passages([ARABIC]), LIMITS)
    assert run.value == 15.0
    assert texts_at(text, run) == [text]


def brute_longest(answer, passages):
    a = [token.folded for token in tokens(answer)]
    best = 0
    for passage in passages:
        b = [token.folded for token in tokens(passage)]
        for i in range(len(a)):
            for j in range(len(b)):
                n = 0
                while i + n < len(a) and j + n < len(b) and a[i + n] == b[j + n]:
                    n += 1
                best = max(best, n)
    return best


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=14).map(" ".join)


@settings(max_examples=limit_cases(200), deadline=None)
@given(WORDS, st.lists(WORDS, max_size=4))
def test_the_longest_run_is_what_comparing_everything_finds_with_the_same_words_on_both_sides(
    answer, passages
):
    known, found = Passages(passages), tokens(answer)
    assert longest_run(answer, known) == brute_longest(answer, passages)
    for run in known.runs(found):
        there = known.tokens[run.passage][run.at : run.at + run.length]
        here = found[run.first : run.last + 1]
        assert [token.folded for token in there] == [token.folded for token in here]


@pytest.mark.long
def test_a_hundred_thousand_words_are_compared_at_once():
    rng = random.Random(3)
    passages = Passages([" ".join(f"w{rng.randrange(500)}" for _ in range(20_000))])
    assert longest_run(" ".join(f"w{rng.randrange(500)}" for _ in range(80_000)), passages) >= 2


def of(*texts, authors=None):
    return [FlaggedAnswer(key, (authors or range(100))[key], text) for key, text in enumerate(texts)]


LONG = "The capital of Italy is Rome, which lies on the Tiber."


def test_answers_that_are_alike_are_flagged_at_both_unless_short_or_of_one_person():
    assert likeness.alike(of("Rome", "Rome", "rome."), LIMITS) == {}
    other = "Something else that is long enough to compare."
    found = likeness.alike(of(LONG, LONG.upper() + "!!", other), LIMITS)
    assert {key: names(flags) for key, flags in found.items()} == {0: ["identical"], 1: ["identical"]}
    assert found[0][0].evidence == {"answers": [{"answer": 1, "ratio": 1.0}], "count": 1}
    found = likeness.alike(of(LONG, "Rome, which lies on the Tiber, is the capital of Italy."), LIMITS)
    assert (names(found[0]), found[0][0].value) == (["near-identical"], 1.0)
    assert likeness.alike(of(LONG, LONG, authors=[5, 5]), LIMITS) == {}
    chinese = "意大利的首都是罗马,位于台伯河畔,历史悠久,人口众多"
    for a, b in ((f"{chinese}。", chinese), (ARABIC, ARABIC.replace("روما", "رُوما"))):
        assert names(likeness.alike(of(a, b), LIMITS)[0]) == ["identical"]
    assert likeness.similarity("狗咬人", "人咬狗") < 0.7
    assert likeness.similarity("dog bites man", "man bites dog") == 1.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_similarity_is_symmetric_and_between_0_and_1(a, b):
    assert likeness.similarity(a, b) == likeness.similarity(b, a)
    assert 0.0 <= likeness.similarity(a, b) <= 1.0
    assert likeness.similarity(a, a) == (1.0 if folded(a) else 0.0)


def test_pasting_most_of_it_is_flagged_and_a_pasted_name_is_not():
    assert flag_checks.pasted(Work(100, pasted_characters=60), LIMITS) == [
        Flag("pasted", 0.6, 0.5, {"pasted": 60, "characters": 100})
    ]
    assert flag_checks.pasted(Work(100, pasted_characters=49), LIMITS) == []
    assert flag_checks.pasted(Work(12, pasted_characters=12), LIMITS) == []
    assert flag_checks.pasted(Work(100, pasted_characters=900), LIMITS)[0].value == 1.0


def test_typing_faster_than_people_is_flagged_and_pasting_is_not_typing():
    assert flag_checks.too_fast("x" * 300, Work(300, active_ms=20_000), LIMITS)[0].value == 900.0
    assert flag_checks.too_fast("x" * 300, Work(300, active_ms=60_000), LIMITS) == []
    assert flag_checks.too_fast("x" * 300, Work(300, active_ms=20_000, pasted_characters=250), LIMITS) == []
    assert flag_checks.too_fast("x" * 300, Work(300, active_ms=1000, pasted_characters=280), LIMITS) == []
    text = "罗马是意大利的首都" * 10
    assert flag_checks.keys_per_character(text) == 3.0
    assert flag_checks.too_fast(text, Work(90, active_ms=20_000), LIMITS)[0].value == 810.0
    assert flag_checks.too_fast(ARABIC, Work(90, active_ms=20_000), LIMITS) == []
    for work in (None, Work(500), Work(500, active_ms=0, pasted_characters=0)):
        assert flag_checks.pasted(work, LIMITS) + flag_checks.too_fast("x" * 500, work, LIMITS) == []


def test_answers_far_longer_or_shorter_than_the_others_stand_out():
    found = flag_checks.outliers({1: 20, 2: 24, 3: 30, 4: 22, 5: 26, 6: 900}, LIMITS)
    assert {key: names(flags) for key, flags in found.items()} == {6: ["length"]}
    assert found[6][0].evidence == {"length": 900, "median": 25.0, "compared": 6}
    assert set(flag_checks.outliers({1: 200, 2: 240, 3: 300, 4: 220, 5: 260, 6: 4}, LIMITS)) == {6}
    assert set(flag_checks.outliers({**dict.fromkeys(range(12), 4), 99: 400}, LIMITS)) == {99}
    assert flag_checks.outliers(dict.fromkeys(range(12), 4), LIMITS) == {}
    assert flag_checks.outliers({1: 4, 2: 4, 3: 4, 4: 900}, LIMITS) == {}
    assert flag_checks.outliers({**dict.fromkeys(range(12), 4), 99: 10}, LIMITS) == {}


@pytest.mark.parametrize(
    ("tag", "text", "wrong"),
    [
        ("en", "Rome", False),
        ("en", "42", False),
        ("en", "Рим", False),  # three letters say too little
        ("en", "Столица Рим", True),
        ("zh", "罗马", False),
        ("zh-Hant", "Rome is the capital", True),
        ("zh", "首都是罗马 (Rome)", False),
        ("zh", "ローマはイタリアのしゅとです", True),
        ("ja", "ローマはイタリアの首都です", False),
        ("ar", "العاصمة هي روما", False),
        ("ar", "The capital", True),
        ("sr", "Beograd", False),
        ("sr-Cyrl", "Beograd", True),
        ("tlh", "anything at all", False),
    ],
)
def test_the_script_decides_first(tag, text, wrong):
    assert bool(flag_checks.foreign_script(text, tag)) == wrong


def test_words_of_the_passages_may_be_in_any_script_and_another_language_needs_a_long_text():
    assert flag_checks.foreign_script("Microsoft Windows", "zh", ["微软 Microsoft 的 Windows"]) == []
    assert flag_checks.foreign_script("Microsoft Windows", "zh", ["微软 Microsoft"]) == [(10, 17)]
    german = "Die Hauptstadt von Italien ist seit langer Zeit eine sehr alte und sehr schöne Stadt am Fluss."
    assert flag_checks.other_language(german, "en")[0] == "de"
    assert flag_checks.other_language(german, "de") is None
    assert flag_checks.other_language("Die Hauptstadt ist Rom.", "en") is None
    flag = flag_checks.language_flags(german, FlagQuery("q", (), "en"))[0]
    assert (flag.name, flag.evidence["language"]) == ("language", "de")


def test_unknown_words_are_found_but_not_names_numbers_or_what_stands_in_the_passages():
    asked = FlagQuery("who is Zxqwv", ("The word grumblefrotz is here.",))
    text = "The captial grumblefrotz of Zxqwv and Qwxyz has 3rd NASA peeple."
    spans = flag_checks.unknown_words(text, asked)
    assert [text[a:b] for a, b in spans] == ["captial", "peeple"]
    text = "The captial off itlay haas veri manny peeple"
    flags = flag_checks.spelling_flags(text, FlagQuery("q", ()), LIMITS)
    assert names(flags) == ["spelling"]
    assert flag_checks.spelling_flags("Teh captial", FlagQuery("q", ()), LIMITS) == []
    assert (
        flag_checks.spelling_flags("The capital of this country is very old", FlagQuery("q", ()), LIMITS)
        == []
    )
    assert flag_checks.unknown_words("هذه المدينة كبيرة", FlagQuery("س", (), "ar")) == []
    assert flag_checks.unknown_words("这是一个城市", FlagQuery("问", (), "zh")) == []
    assert flag_checks.unknown_words("anything zzqx", FlagQuery("q", (), "tlh")) == []


def test_the_two_words_are_found_in_any_case_and_only_together():
    text = "Rome, by the Amber\nLANTERN of Italy."
    flag = flag_checks.canary_flags(text, "amber lantern")[0]
    assert texts_at(text, flag) == ["Amber\nLANTERN"]
    assert flag_checks.canary_flags("amber and lantern", "amber lantern") == []
    assert flag_checks.canary_flags(text, "") == []
    for seed in range(200):
        words = flag_checks.phrase(str(seed), ["An amber lantern and an abacus."]).split()
        assert not {"amber", "lantern", "abacus"} & set(words)


ASKED = FlagQuery("what is the capital of italy", (ENGLISH,))
ANSWERS = [
    FlaggedAnswer(1, 1, "Rome"),
    FlaggedAnswer(2, 2, "Rome"),
    FlaggedAnswer(3, 3, ENGLISH, Work(len(ENGLISH), active_ms=3000, pasted_characters=len(ENGLISH))),
    FlaggedAnswer(4, 4, ENGLISH),
    FlaggedAnswer(5, 5, "It is Rome."),
    FlaggedAnswer(6, 6, "Рим является столицей Италии", canary="amber lantern"),
    FlaggedAnswer(7, 7, "An amber lantern says Rome", canary="amber lantern"),
]


def test_the_suite_finds_what_was_put_there_and_leaves_good_answers_alone():
    found = {key: sorted(names(flags)) for key, flags in flags_of(ASKED, ANSWERS, LIMITS).items()}
    assert found == {
        1: [],
        2: [],
        3: ["copy-run", "copy-share", "identical", "pasted"],
        4: ["copy-run", "copy-share", "identical"],
        5: [],
        6: ["language"],
        7: ["canary"],
    }


@settings(max_examples=limit_cases(30), deadline=None)
@given(st.permutations(ANSWERS))
def test_the_order_of_answers_makes_no_difference(answers):
    def plain(found):
        return {key: sorted(flags, key=lambda flag: flag.name) for key, flags in found.items()}

    assert plain(flags_of(ASKED, answers, LIMITS)) == plain(flags_of(ASKED, ANSWERS, LIMITS))


@settings(max_examples=limit_cases(60), deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=6), st.text(max_size=80))
def test_evidence_lies_inside_the_text_and_each_flag_comes_once(texts, passage):
    answers = of(*texts)
    for key, flags in flags_of(FlagQuery("q", (passage,)), answers, Limits(copy_run=3, same_from=1)).items():
        assert len(set(names(flags))) == len(flags)
        for flag in flags:
            assert flag.name in FLAGS
            for span in flag.evidence.get("spans", []):
                assert 0 <= span["start"] < span["end"] <= len(texts[key])


def test_every_flag_has_words_for_its_value_and_its_evidence():
    found = [flag for flags in flags_of(ASKED, ANSWERS, LIMITS).values() for flag in flags]
    assert measured("copy-share", 0.754, 0.5) == "75% of its words (limit 50%)"
    assert measured("canary", None, None) == ""
    assert details("pasted", {"pasted": 60, "characters": 100}) == "60 of 100 characters were pasted."
    for flag in found:
        assert FLAGS[flag.name].meaning
        assert isinstance(details(flag.name, flag.evidence), str)


def test_answers_that_point_elsewhere_or_say_next_to_nothing_are_flagged():
    asked = FlagQuery("what is the capital of italy", ())
    for text, expected in {
        "see above 9": ["self-referring"],
        "Same as before.": ["self-referring"],
        "I don\u2019t know": ["self-referring"],
        "As the passage says, it is Rome, which lies along the shores of the river Tiber in Italy.": [
            "self-referring"
        ],
        "Rome": [],
        "1871": [],
        "?": ["near-empty"],
        "ok, nice": ["near-empty"],
        "罗马是首都": [],
        "It is Rome.": [],
        "As of last year it is Rome.": [],
        "Rome is the capital, which it has been since 1871, as the map that was given before shows.": [],
    }.items():
        flags = flags_of(asked, [FlaggedAnswer(1, 1, text)], LIMITS, check_language=False)[1]
        assert [flag.name for flag in flags if flag.name in ("near-empty", "self-referring")] == expected, (
            text
        )
