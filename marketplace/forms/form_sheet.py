"""A QuestionForm as templates draw it: the library `questionform`."""

from django import template

from marketplace.forms import formanswers
from marketplace.forms.formanswers import FormAnswers
from marketplace.forms.questionform import Form

register = template.Library()


@register.filter
def sheet(form: Form, answers: FormAnswers | str | None) -> formanswers.Sheet:
    """The form as it is drawn; `answers` is what was filled in, or nothing."""
    return formanswers.sheet(form, answers if isinstance(answers, FormAnswers) else None)
