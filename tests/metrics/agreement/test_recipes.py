import pytest

from metrics.agreement.recipes import (
    KPQA_2021,
    RECIPES,
    Recipe,
    RecipeError,
    named,
    recipe_of,
    with_parameters,
)


def test_there_are_four_recipes_with_their_rules():
    assert {name: each.rules for name, each in RECIPES.items()} == {
        "default": ("checks", "kappa"),
        "kpqa-2021": ("z",),
        "adem-2017": ("checks", "kappa"),
        "none": (),
    }


def test_kpqa_removes_above_one_standard_deviation_and_at_most_five():
    assert KPQA_2021.parameters == {
        "z_limit": 1.0, "z_cap": 5, "z_ddof": 0, "z_least": 2, "z_keep": 0, "z_ties": "submission"
    }  # fmt: skip


def test_adem_takes_any_failed_check_and_the_median_pairwise_kappa():
    adem = named("adem-2017")
    assert (adem.checks_failed, adem.checks_least, adem.kappa_reference, adem.kappa_below) == (
        1,
        1,
        "pairwise",
        0.2,
    )


def test_kappa_after_z_is_refused_with_the_reason():
    with pytest.raises(
        RecipeError, match=r"z, kappa is refused, because kappa must be measured on responses that z"
    ):
        Recipe("mine", rules=("z", "kappa"))


def test_an_unknown_recipe_names_those_that_there_are():
    with pytest.raises(RecipeError, match="no recipe 'kpqa'; there are default, kpqa-2021, adem-2017, none"):
        named("kpqa")


def test_parameters_are_read_from_texts_and_recorded_as_changed():
    changed = with_parameters(named("default"), {"kappa_below": "0.3", "checks_failed": "3"})
    assert (changed.kappa_below, changed.checks_failed, changed.changed) == (
        0.3,
        3,
        ("checks_failed", "kappa_below"),
    )


def test_a_rule_can_be_switched_on():
    assert with_parameters(named("default"), {"rules": "checks,kappa,z", "z_limit": "1.5"}).rules[-1] == "z"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("kappa", "0.3", "no parameter 'kappa'"),
        ("kappa_below", "much", "kappa_below=much is no number"),
        ("kappa_below", "nan", "kappa_below must be from -1 to 1"),
        ("checks_failed", "1.5", "checks_failed=1.5 is no whole number"),
        ("z_limit", "2", "the recipe default has no rule z. Switch it on with rules=checks,kappa,z"),
        ("kappa_weights", "cubic", "one of quadratic, linear"),
        ("rules", "kappa,kappa", "named twice"),
        ("rules", "magic", "no rule 'magic'"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_in_words(name, value, words):
    with pytest.raises(RecipeError, match=words):
        with_parameters(named("default"), {name: value})


def test_a_stored_recipe_comes_back_as_it_was():
    changed = with_parameters(named("default"), {"kappa_least": 5})
    assert recipe_of("default", changed.parameters) == changed
