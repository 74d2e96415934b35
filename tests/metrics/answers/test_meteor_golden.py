"""METEOR of paper 000 (Mitra et al.), Tables 1 and 2, by exact matches, in all three tokenisations."""

import re

import pytest

from metrics.answers.meteor import meteor_pair
from tests.metrics.goldens import golden

TABLE = golden("pa_metrics_table2")


def tokens(text, config):
    text = text.lower().replace("\u2019", "'")
    if config == "plain":
        return re.sub(r"[,.]", "", text).split()
    if config == "marks":
        return re.sub(r"([,.'])", r" \1 ", text).split()
    return re.sub(r"(\d)cm\b", r"\1 cm", re.sub(r"([.'])", r" \1 ", text)).split()


def texts(config):
    return [[tokens(text, config) for text in TABLE[side]] for side in ("candidates", "references")]


@pytest.mark.parametrize("config", TABLE["configs"])
@pytest.mark.parametrize("variant", ["minchunk", "mincross"])
@pytest.mark.parametrize("alpha", [0.1, 0.9])
def test_the_best_reference_gives_the_golden_meteor(config, variant, alpha):
    candidates, references = texts(config)
    found = [max(meteor_pair(c, r, alpha=alpha, variant=variant) for r in references) for c in candidates]
    expected = TABLE["configs"][config][f"meteor_{variant}_alpha{alpha}"]
    assert found == pytest.approx(expected, abs=TABLE["tolerance"])


@pytest.mark.parametrize("config", TABLE["configs"])
def test_every_pair_of_candidate_and_reference_gives_its_golden_value(config):
    candidates, references = texts(config)
    expected = TABLE["configs"][config]["sim_meteor_minchunk_alpha0.1_cand_ref"]
    for candidate, row in zip(candidates, expected, strict=True):
        found = [meteor_pair(candidate, reference) for reference in references]
        assert found == pytest.approx(row, abs=TABLE["tolerance"])


@pytest.mark.parametrize("config", ["plain", "marks"])
def test_two_printed_values_are_above_what_any_one_to_one_meteor_can_give(config):
    printed = TABLE["printed_table2"]["METEOR"]
    bound = TABLE["configs"][config]["one_to_one_upper_bound_any_alpha_no_penalty"]
    assert [p > b for p, b in zip(printed, bound, strict=True)][1:3] == [True, True]
