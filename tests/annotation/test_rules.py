"""The rules of screening and curation, and finding marked words: pure functions."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import rules
from annotation.rules import Vote, locate

FIT = Vote(True, True, "informational", "", False, False)
NAVIGATIONAL = Vote(True, False, "navigational", "", False, False)
TOPIC = Vote(True, False, "informational", "topic", False, False)
UNCLEAR = Vote(False, True, "informational", "", False, False)
SENSITIVE = Vote(True, True, "informational", "", True, False)
ADULT = Vote(True, True, "informational", "", False, True)

votes = st.builds(
    Vote,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["informational", "navigational", "transactional"]),
    st.sampled_from(["", "directions", "list", "topic"]),
    st.booleans(),
    st.booleans(),
)
some_votes = st.lists(votes, min_size=1, max_size=9)
tolerances = st.fixed_dictionaries(
    {"tolerated_sensitive": st.integers(0, 3), "tolerated_adult": st.integers(0, 3)}
)


def verdict(*cast, **options):
    decision = rules.decide_screening(cast, **options)
    return str(decision.verdict), decision.reason


def test_the_majority_decides_and_says_what_most_had_against_a_query():
    assert verdict(FIT, FIT, NAVIGATIONAL) == ("accepted", "2 of 3: fit to be answered")
    assert verdict(NAVIGATIONAL, NAVIGATIONAL, FIT) == (
        "excluded",
        "2 of 3: navigational; 2 of 3: no short passage could settle it",
    )
    # Editors who object to different things exclude a query together.
    assert verdict(UNCLEAR, UNCLEAR, TOPIC, TOPIC, FIT) == (
        "excluded",
        "2 of 5: a general topic; 2 of 5: its intent is not clear; 2 of 5: no short passage could settle it",
    )
    assert verdict(FIT, UNCLEAR) == ("tied", "1 of 2: fit to be answered; 1 of 2: its intent is not clear")
    assert verdict(FIT, UNCLEAR, ties_wait=False)[0] == "excluded"
    odd = Vote(True, False, "navigational", "topic", False, False)
    assert odd.objections == ("navigational", "unanswerable"), "kinds are those of informational queries"
    with pytest.raises(ValueError, match="without votes"):
        rules.decide_screening([])


@pytest.mark.parametrize(
    ("flagged", "words"), [(SENSITIVE, "1 of 3: sensitive information"), (ADULT, "1 of 3: adult content")]
)
def test_one_flag_more_than_is_tolerated_excludes_whatever_else_is_said(flagged, words):
    assert verdict(FIT, FIT, flagged) == ("excluded", words)
    assert verdict(FIT, FIT, flagged, tolerated_sensitive=1, tolerated_adult=1)[0] == "accepted"
    assert verdict(flagged, UNCLEAR)[0] == "excluded", "before a tie is looked at"


@given(some_votes.flatmap(lambda cast: st.tuples(st.just(cast), st.permutations(cast))), tolerances)
def test_votes_decide_in_any_order_and_say_why_in_a_line_and_an_odd_number_is_no_tie(pair, options):
    cast, shuffled = pair
    decision = rules.decide_screening(cast, **options)
    assert decision == rules.decide_screening(shuffled, **options)
    assert 0 < len(decision.reason) <= 300
    if decision.verdict == "accepted":
        assert rules.decide_screening([*cast, FIT], **options).verdict == "accepted"
    if len(cast) % 2:
        assert decision.verdict != "tied"


@given(some_votes, tolerances, st.sampled_from(["sensitive", "adult"]))
def test_one_more_flag_never_helps_a_query(cast, options, flag):
    first = cast[0]
    flagged = replace(first, **{flag: True})
    if rules.decide_screening(cast, **options).verdict == "excluded":
        assert rules.decide_screening([flagged, *cast[1:]], **options).verdict == "excluded"


@given(st.integers(1, 9), votes, tolerances)
def test_editors_of_one_mind_get_their_way_unless_flags_forbid_it(count, one, options):
    if not one.sensitive and not one.adult:
        wanted = "accepted" if one.fit else "excluded"
        assert rules.decide_screening([one] * count, **options).verdict == wanted


def merged(*selections, wanted=None, merging="majority"):
    sets = [frozenset(each.split()) for each in selections]
    decision = rules.decide_curation(sets, needed=wanted or len(sets), merging=merging)
    return str(decision.verdict), decision.rule, " ".join(sorted(decision.passages))


def test_choices_of_one_or_of_more_than_half_stand_and_others_are_disputed():
    assert merged("a b") == ("curated", "single", "a b")
    assert merged("") == ("unanswerable", "", "")
    for merging in ("majority", "exact"):
        assert merged("a b", "b a", merging=merging) == ("curated", "exact", "a b")
        assert merged("", "", merging=merging) == ("unanswerable", "", "")
        assert merged("", "", "a", merging=merging)[0] == "unanswerable"
    assert merged("a b", "a c", "a b d") == ("curated", "majority", "a b")
    assert merged("a b", "a") == ("curated", "majority", "a")
    assert merged("a", "b") == ("disputed", "", "")
    assert merged("a", "b", "c") == ("disputed", "", "")
    decision = rules.decide_curation([frozenset(), frozenset("a")], needed=2, merging="majority")
    assert (decision.verdict, decision.reason) == (
        "disputed",
        "No passage was chosen by more than half of 2 editors; 1 of 2: the passages cannot answer it",
    )
    with pytest.raises(ValueError, match="2 are wanted"):
        rules.decide_curation([frozenset("a")], needed=2, merging="majority")


def test_exact_asks_one_more_editor_and_takes_the_choice_of_more_than_half():
    assert merged("a b", "a", wanted=2, merging="exact")[0] == "more"
    assert merged("a b", "a", "a b", wanted=2, merging="exact") == ("curated", "exact", "a b")
    assert merged("a b", "a", "c", wanted=2, merging="exact")[0] == "disputed"
    assert merged("a", "", "", wanted=2, merging="exact")[0] == "unanswerable"


choices = st.lists(st.frozensets(st.sampled_from("abcd"), max_size=3), min_size=1, max_size=7)
merging_rules = st.sampled_from(["majority", "exact"])


@given(
    choices.flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))),
    merging_rules,
    st.integers(1, 7),
)
def test_selections_in_any_order_make_a_set_of_passages_that_somebody_chose(pair, merging, wanted):
    made, shuffled = pair
    decision = rules.decide_curation(made, needed=1, merging=merging)
    assert decision == rules.decide_curation(shuffled, needed=1, merging=merging)
    if len(made) >= wanted:
        decision = rules.decide_curation(made, needed=wanted, merging=merging)
        assert decision.passages <= frozenset().union(*made)
        assert (decision.verdict == "curated") == bool(decision.passages) == bool(decision.rule)
    if len(made) > wanted:
        assert rules.decide_curation(made, needed=wanted, merging="exact").verdict != "more", "asked once"


# Marked words

PASSAGE = "Water boils\nat 100 °C.  水在100度沸腾。 يغلي الماء"


@pytest.mark.parametrize("words", ["boils at", "100 °C. 水在", "يغلي الماء", "  Water  ", "boils\n\nat"])
def test_exact_words_are_found_whatever_the_white_space(words):
    start, end = locate(PASSAGE, words)
    assert PASSAGE[start:end].split() == words.split()


@pytest.mark.parametrize("words", ["", "   ", "Boils", "boilsat", "100 °F", ".*", "w" * 3000])
def test_other_words_are_not_found(words):
    assert locate(PASSAGE, words) is None


@pytest.mark.long
@given(st.text(max_size=60), st.integers(0, 59), st.integers(0, 60))
def test_every_stretch_of_a_text_is_found_in_it(text, start, end):
    words = text[start:end]
    if words.split():
        found = locate(text, words)
        assert found is not None
        assert text[slice(*found)].split() == words.split()
