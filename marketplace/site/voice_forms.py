"""Forms by which workers rate a group and write to its requester."""

from django import forms

from marketplace.services.voices import MAX_BODY, MAX_SUBJECT, MAX_WORDS

STARS = {5: "very good", 4: "good", 3: "fair", 2: "poor", 1: "very poor"}


class RatingForm(forms.Form):
    """One to five stars, and words for the requester."""

    stars = forms.TypedChoiceField(
        label="How was it to work on these HITs?",
        choices=[(stars, f"{stars}, {words}") for stars, words in STARS.items()],
        coerce=int,
        widget=forms.RadioSelect,
        help_text="Think of the instructions, the pay for the time it took, and how fair the decisions were.",
        error_messages={"required": "Choose from 1 to 5."},
    )
    words = forms.CharField(
        label="What should the requester know?",
        required=False,
        max_length=MAX_WORDS,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=f"If you like, in at most {MAX_WORDS} characters. Only the requester reads it.",
    )


class LetterForm(forms.Form):
    """A message to a requester."""

    subject = forms.CharField(max_length=MAX_SUBJECT, widget=forms.TextInput(attrs={"dir": "auto"}))
    body = forms.CharField(
        label="Message",
        max_length=MAX_BODY,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        help_text="Say what happened and what you would like to be done. Links and names of files stay text.",
    )
