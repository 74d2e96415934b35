"""Crowds mixed from profiles."""

from collections import Counter

import pytest

from crowd.kinds import Habit
from crowd.simulation.answers import MIXES, PROFILES, crowd_of


def test_mixes_are_of_known_profiles_with_their_shares():
    for mix in MIXES.values():
        assert sum(mix.values()) == 100
        assert set(mix) <= set(PROFILES)
    for people in (1, 7, 100, 150):
        assert len(crowd_of("heavy", people, seed=1)) == people
    counts = Counter(profile.name for profile in crowd_of("moderate", 100, seed=3))
    assert counts == MIXES["moderate"]
    for mix, share in (("clean", 0), ("moderate", 15), ("heavy", 35)):
        crowd = crowd_of(mix, 100, seed=1)
        assert sum(profile.habit is not Habit.KNOWS for profile in crowd) == share
    assert {profile.name for profile in crowd_of("reversed", 5, seed=1)} == {"reversed"}
    with pytest.raises(KeyError, match="clean, moderate, heavy"):
        crowd_of("perfect", 5, seed=1)


def test_the_same_seed_gives_the_same_people_in_the_same_order():
    assert crowd_of("heavy", 50, seed=7) == crowd_of("heavy", 50, seed=7)
    assert crowd_of("heavy", 50, seed=7) != crowd_of("heavy", 50, seed=8)
