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


def test_people_answer_as_their_profile_says(stage):
    assert agreement(choices(stage, "diligent", 1), choices(stage, "diligent", 2)) > 0.75
    truth = choices(stage, "diligent", 1)
    assert 0.5 < agreement(truth, choices(stage, "sloppy", 2)) < 0.85
    assert len(set(choices(stage, "constant"))) == 1
    counts = Counter(choices(stage, "random"))
    assert set(counts) == set(OPTIONS) and max(counts.values()) < 20
    turned = [str(6 - int(choice)) for choice in choices(stage, "reversed", 2)]
    assert agreement(choices(stage, "diligent", 1), turned) > 0.75
    assert choices(stage, "sloppy", 3) == choices(stage, "sloppy", 3)


def test_who_reads_passes_attention_checks_and_makes_no_mistake_twice(stage):
    form = scale("check:0")
    passed = sum(
        answer_unit(stage, form, "check:0", somebody("diligent", number)) == {"check:0|choice": "4"}
        for number in range(40)
    )
    assert passed > 34
    units = [f"item:{number}" for number in range(40)]
    form = scale(*units)
    one, other = (
        [answer_unit(stage, form, unit, somebody("sloppy", number), attempt=2) for unit in units]
        for number in (1, 2)
    )
    assert one == other


def test_people_write_in_the_length_that_is_asked_for_and_copy_pasters_the_passage(stage):
    form = writing(minlength=150, maxlength=160)
    for profile in PROFILES:
        text = answer_unit(stage, form, "item:0", somebody(profile))["item:0|answer"]
        assert 150 <= len(text) <= 160, profile
    form = writing()
    one, other = (answer_unit(stage, form, "item:0", somebody("diligent", seed=seed)) for seed in (1, 2))
    assert one != other
    text = answer_unit(stage, form, "item:0", somebody("copy-paster"))["item:0|answer"]
    assert text in PASSAGE and len(text.split()) >= 12
    text = answer_unit(stage, form, "item:0", somebody("diligent"))["item:0|answer"]
    assert text not in PASSAGE and "word" in text


def test_boxes_are_ticked_alike_by_those_who_read(stage):
    names = [f"item:0|{number}" for number in range(40)]
    form = form_with("".join(f'<input type="checkbox" name="{name}" value="on">' for name in names))
    ticked = [set(answer_unit(stage, form, "item:0", somebody("diligent", who))) for who in (1, 2)]
    assert ticked[0] and len(ticked[0] ^ ticked[1]) < 10


def test_pasting_is_measured_as_pasting_and_writing_takes_keys_and_time(stage):
    form, efforts = writing(), {}
    for profile in ("copy-paster", "diligent"):
        who = somebody(profile)
        filled = answer_unit(stage, form, "item:0", who)
        efforts[profile] = effort_of(form, "item:0", filled, who), len(filled["item:0|answer"])
    (pasting, length), (typing, written) = efforts.values()
    assert (pasting.telemetry["pastes"], pasting.telemetry["pasted_characters"]) == (1, length)
    assert pasting.telemetry["keystrokes"] < 5
    assert typing.telemetry["keystrokes"] >= written
    assert typing.telemetry["pastes"] == 0
    assert typing.telemetry["active_ms"] > 5_000
    assert pasting.seconds < typing.seconds / 2
