"""What the filters page sends."""

from judgments.desk.filters import ApplyForm


def test_parameters_nested_too_deep_are_refused_in_words():
    form = ApplyForm({"parameters": "[" * 50_000})
    assert not form.is_valid()
    assert form.errors["parameters"] == ["These parameters are nested too deep."]
