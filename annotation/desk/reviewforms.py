"""Small forms of the review pages."""

from django import forms

from crowd.desk.forms import Form


class HoldOutForm(Form):
    """How many people of each query are set aside, and by which seed."""

    people = forms.IntegerField(
        label="People per query",
        min_value=1,
        max_value=1000,
        help_text="Of queries that have all their answers and none held out yet.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="The same seed draws the same people.",
    )
