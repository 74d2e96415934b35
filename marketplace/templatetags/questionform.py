"""QuestionForm in templates."""

from django import template

from marketplace.questionform import drawing
from marketplace.questionform.answering import FormAnswers
from marketplace.questionform.parsing import Form

register = template.Library()


@register.filter
def sheet(form: Form, given: FormAnswers | str | None) -> drawing.Sheet:
    """The form as it is drawn; `given` is what was filled in, or nothing."""
    return drawing.sheet(form, given if isinstance(given, FormAnswers) else None)
