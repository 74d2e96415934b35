"""What people of each profile answer on one page."""

import json
from collections import Counter

import pytest

from crowd.models import Stage
from crowd.simulation.answers import PROFILES, Form, SimulatedPerson, answer_unit, effort_of, read_form

OPTIONS = ["1", "2", "3", "4", "5"]
PASSAGE = " ".join(f"word{number}" for number in range(60))


@pytest.fixture
def stage() -> Stage:
    config = {"question": "?", "options": OPTIONS, "items": ["a"] * 40, "checks": {"Choose 4": "4"}}
    return Stage(kind="poll", seed=11, config=json.loads(json.dumps(config)))


def form_with(inside: str) -> Form:
    form = read_form(f'<form method="post">{inside}</form>', "http://localhost/")
    assert form is not None
    return form


def scale(*units: str) -> Form:
    return form_with(
        "".join(
            f'<section>Item<input type="radio" name="{unit}|choice" value="{option}"></section>'
            for unit in units
            for option in OPTIONS
        )
    )


def writing(**attributes: int) -> Form:
    bounds = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return form_with(f'<section>{PASSAGE}<textarea name="item:0|answer" {bounds}></textarea></section>')


def somebody(profile: str, number: int = 0, seed: int = 7) -> SimulatedPerson:
    return SimulatedPerson(number, PROFILES[profile], seed)


def choices(stage: Stage, profile: str, number: int = 0, count: int = 40) -> list[str]:
    units = [f"item:{number}" for number in range(count)]
    form = scale(*units)
    return [answer_unit(stage, form, unit, somebody(profile, number))[f"{unit}|choice"] for unit in units]


def agreement(one: list[str], other: list[str]) -> float:
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def test_diligent_people_agree_with_one_another(stage):
    assert agreement(choices(stage, "diligent", 1), choices(stage, "diligent", 2)) > 0.75


def test_sloppy_people_agree_less(stage):
    truth = choices(stage, "diligent", 1)
    assert 0.5 < agreement(truth, choices(stage, "sloppy", 2)) < 0.85


def test_constant_people_always_choose_the_same(stage):
    assert len(set(choices(stage, "constant"))) == 1


def test_random_people_choose_everything_alike(stage):
    counts = Counter(choices(stage, "random"))
    assert set(counts) == set(OPTIONS) and max(counts.values()) < 20


def test_reversed_people_answer_on_the_scale_turned_round(stage):
    turned = [str(6 - int(choice)) for choice in choices(stage, "reversed", 2)]
    assert agreement(choices(stage, "diligent", 1), turned) > 0.75


def test_who_reads_passes_attention_checks(stage):
    form = scale("check:0")
    passed = sum(
        answer_unit(stage, form, "check:0", somebody("diligent", number)) == {"check:0|choice": "4"}
        for number in range(40)
    )
    assert passed > 34


def test_the_same_person_answers_the_same_again(stage):
    assert choices(stage, "sloppy", 3) == choices(stage, "sloppy", 3)


def test_who_is_shown_what_is_wrong_twice_makes_no_mistake_any_more(stage):
    units = [f"item:{number}" for number in range(40)]
    form = scale(*units)
    one, other = (
        [answer_unit(stage, form, unit, somebody("sloppy", number), attempt=2) for unit in units]
        for number in (1, 2)
    )
    assert one == other


def test_another_seed_makes_another_person(stage):
    form = writing()
    one, other = (answer_unit(stage, form, "item:0", somebody("diligent", seed=seed)) for seed in (1, 2))
    assert one != other


def test_copy_pasters_take_the_passage_word_for_word(stage):
    text = answer_unit(stage, writing(), "item:0", somebody("copy-paster"))["item:0|answer"]
    assert text in PASSAGE and len(text.split()) >= 12


def test_diligent_people_write_in_their_own_words(stage):
    text = answer_unit(stage, writing(), "item:0", somebody("diligent"))["item:0|answer"]
    assert text not in PASSAGE and "word" in text


@pytest.mark.parametrize("profile", PROFILES)
def test_everybody_keeps_to_the_length_that_is_asked_for(stage, profile):
    form = writing(minlength=150, maxlength=160)
    text = answer_unit(stage, form, "item:0", somebody(profile))["item:0|answer"]
    assert 150 <= len(text) <= 160


def test_boxes_are_ticked_alike_by_those_who_read(stage):
    names = [f"item:0|{number}" for number in range(40)]
    form = form_with("".join(f'<input type="checkbox" name="{name}" value="on">' for name in names))
    ticked = [set(answer_unit(stage, form, "item:0", somebody("diligent", who))) for who in (1, 2)]
    assert ticked[0] and len(ticked[0] ^ ticked[1]) < 10


def test_pasting_is_measured_as_pasting(stage):
    form = writing()
    who = somebody("copy-paster")
    filled = answer_unit(stage, form, "item:0", who)
    measured = effort_of(form, "item:0", filled, who).telemetry
    assert measured["pastes"] == 1
    assert measured["pasted_characters"] == len(filled["item:0|answer"])
    assert measured["keystrokes"] < 5


def test_writing_takes_as_many_keys_as_characters_and_its_time(stage):
    form = writing()
    who = somebody("diligent")
    filled = answer_unit(stage, form, "item:0", who)
    measured = effort_of(form, "item:0", filled, who).telemetry
    assert measured["keystrokes"] >= len(filled["item:0|answer"])
    assert measured["pastes"] == 0
    assert measured["active_ms"] > 5_000


def test_those_who_do_not_read_are_quick(stage):
    form = writing()

    def seconds(profile: str) -> float:
        who = somebody(profile)
        return effort_of(form, "item:0", answer_unit(stage, form, "item:0", who), who).seconds

    assert seconds("copy-paster") < seconds("diligent") / 2
