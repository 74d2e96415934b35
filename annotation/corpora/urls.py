"""Addresses of the pages of corpora; they stand among those of this app's desk."""

from django.urls import URLPattern, path

from annotation.corpora import views
from annotation.corpora.views import JOBS

_P = "projects/<slug:project>/"
_C = f"{_P}corpora/<slug:corpus>/"
PATHS: list[URLPattern] = [
    path(f"{_P}corpora/", views.listing, name="corpora"),
    path(f"{_P}new-corpus/", views.new, name="corpus_new"),
    path(f"{_P}new-corpus/<str:sha256>/", views.new_look, name="corpus_new_look"),
    path(_C, views.corpus, name="corpus"),
    path(f"{_C}add/", views.add, name="corpus_add"),
    path(f"{_C}add/<str:sha256>/", views.add_look, name="corpus_add_look"),
    path(f"{_C}index/", views.index, name="corpus_index"),
    path(f"{_C}network/", views.network, name="corpus_network"),
    path(f"{_C}remove/", views.remove, name="corpus_remove"),
    *JOBS.job_paths(f"{_P}corpus-work/"),
]
