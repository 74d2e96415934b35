"""Pages of the desk by their dotted names: each is a view, found when it is asked for and not before."""

from django.urls import URLPattern
from django.utils.module_loading import import_string

from evaluations.desk.urls import urlpatterns


def test_every_dotted_name_is_one_of_a_view():
    names = [each.callback.dotted_name for each in urlpatterns if isinstance(each, URLPattern)]
    assert len(names) == len(urlpatterns)
    assert [name for name in names if not callable(import_string(name))] == []
