"""What the page of an answer shows beside its fields."""

from django import template

from annotation.kinds.distillation_form import spelling_hints
from annotation.selectors.material import Material

register = template.Library()


@register.simple_tag
def words_in_no_dictionary(text: str, material: Material, language: str) -> list[str]:
    """Hints for a text that is there already; none for an empty one."""
    return spelling_hints(text, material, language) if text else []
