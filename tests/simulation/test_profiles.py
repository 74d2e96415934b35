"""Crowds mixed from profiles."""

from collections import Counter

import pytest

from crowd.kinds import Habit
from crowd.simulation.answers import MIXES, PROFILES, crowd_of


@pytest.mark.parametrize("mix", MIXES)
def test_the_shares_of_a_mix_are_out_of_a_hundred_and_of_known_profiles(mix):
    assert sum(MIXES[mix].values()) == 100
    assert set(MIXES[mix]) <= set(PROFILES)


@pytest.mark.parametrize("people", [1, 7, 100, 150])
def test_a_crowd_has_as_many_people_as_asked_for(people):
    assert len(crowd_of("heavy", people, seed=1)) == people


def test_a_hundred_people_are_exactly_the_shares():
    counts = Counter(profile.name for profile in crowd_of("moderate", 100, seed=3))
    assert counts == MIXES["moderate"]


@pytest.mark.parametrize(("mix", "share"), [("clean", 0), ("moderate", 15), ("heavy", 35)])
def test_how_many_answer_without_reading_or_the_wrong_way_round(mix, share):
    crowd = crowd_of(mix, 100, seed=1)
    assert sum(profile.habit is not Habit.KNOWS for profile in crowd) == share


def test_the_same_seed_gives_the_same_people_in_the_same_order():
    assert crowd_of("heavy", 50, seed=7) == crowd_of("heavy", 50, seed=7)
    assert crowd_of("heavy", 50, seed=7) != crowd_of("heavy", 50, seed=8)


def test_a_profile_is_a_mix_of_itself():
    assert {profile.name for profile in crowd_of("reversed", 5, seed=1)} == {"reversed"}


def test_an_unknown_mix_is_refused_with_those_there_are():
    with pytest.raises(KeyError, match="clean, moderate, heavy"):
        crowd_of("perfect", 5, seed=1)
