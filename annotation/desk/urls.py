"""Addresses of this room's pages of the desk; below them the doors of `crowd.desk.doors` stand."""

from django.urls import URLPattern, path

from annotation.desk import review, reviewactions

app_name = "annotation"
_P = "projects/<slug:project>/"
_S = f"{_P}stages/<slug:stage>/"
_A = f"{_S}answers/"
_REVIEW = [
    path(_A, review.listing, name="answers"),
    path(f"{_A}spread/", review.spread, name="spread_of_answers"),
    path(f"{_A}hold-out/", reviewactions.draw_holdout, name="draw_holdout"),
    path(f"{_A}writers/", review.writers, name="answer_writers"),
    path(f"{_A}writers/<int:pk>/", review.writer, name="answers_of_worker"),
    path(f"{_A}queries/<int:pk>/", review.query, name="answers_of_query"),
    path(f"{_A}queries/<int:pk>/approve/", reviewactions.approve_unflagged, name="approve_unflagged"),
    path(f"{_A}queries/<int:pk>/hold-out/<int:worker>/", reviewactions.hold_out, name="hold_out"),
    path(f"{_A}queries/<int:pk>/take-back/<int:worker>/", reviewactions.take_back, name="take_back"),
    path(f"{_A}<int:pk>/approve/", reviewactions.approve, name="approve_answer"),
    path(f"{_A}<int:pk>/rewrite/", reviewactions.ask_rewrite, name="ask_rewrite"),
    path(f"{_A}<int:pk>/exclude/", reviewactions.exclude, name="exclude_answer"),
    path(f"{_A}<int:pk>/reopen/", reviewactions.reopen, name="reopen_answer"),
]
urlpatterns: list[URLPattern] = [*_REVIEW]
