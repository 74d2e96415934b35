"""The form by which a requester answers a letter."""

from django import forms

from marketplace.services.voices import MAX_BODY


class AnswerForm(forms.Form):
    """The words of an answer; its subject is the letter's."""

    body = forms.CharField(
        label="Your answer",
        max_length=MAX_BODY,
        widget=forms.Textarea(attrs={"rows": 7, "dir": "auto"}),
        help_text="It goes to the inbox of the worker on the site. There is no e-mail.",
    )
