"""Addresses of this app's pages of the desk; each view checks who may see it (`web.access`)."""

from django.urls import URLPattern, path

from annotation.desk import imports, overview, queries, review
from annotation.desk.corpora import PATHS as CORPORA
from annotation.desk.search import PATHS as SEARCHING

app_name = "annotation"
_P = "projects/<slug:project>/"
_S = f"{_P}stages/<slug:stage>/"
_A = f"{_S}answers/"
_REVIEW: list[URLPattern] = [
    path(_A, review.listing, name="answers"),
    path(f"{_A}spread/", review.spread, name="spread_of_answers"),
    path(f"{_A}hold-out/", review.draw_holdout, name="draw_holdout"),
    path(f"{_A}writers/", review.writers, name="answer_writers"),
    path(f"{_A}writers/<int:pk>/", review.writer, name="answers_of_worker"),
    path(f"{_A}queries/<int:pk>/", review.query, name="answers_of_query"),
    path(f"{_A}queries/<int:pk>/approve/", review.approve_unflagged, name="approve_unflagged"),
    path(f"{_A}queries/<int:pk>/hold-out/<int:worker>/", review.hold_out, name="hold_out"),
    path(f"{_A}queries/<int:pk>/take-back/<int:worker>/", review.take_back, name="take_back"),
    path(f"{_A}<int:pk>/approve/", review.approve, name="approve_answer"),
    path(f"{_A}<int:pk>/rewrite/", review.ask_rewrite, name="ask_rewrite"),
    path(f"{_A}<int:pk>/exclude/", review.exclude, name="exclude_answer"),
    path(f"{_A}<int:pk>/reopen/", review.reopen, name="reopen_answer"),
    path(f"{_A}approve/", review.approve_chosen_unflagged, name="approve_chosen_unflagged"),
    path(f"{_A}undo/", review.undo, name="undo_review"),
    path(f"{_A}<int:pk>/note/", review.add_note, name="add_note"),
]
_CASE = f"{_P}adjudication/<int:query>/"
urlpatterns: list[URLPattern] = [
    *SEARCHING,  # first: programs ask for them most often
    path(f"{_P}queries/", queries.listing, name="queries"),
    path(f"{_P}queries/decide/", queries.decide_chosen, name="decide_queries"),
    path(f"{_P}queries.csv", queries.download, name="queries_csv"),
    *queries.QUERIES_FILE.job_paths(f"{_P}queries/files/"),
    path(f"{_P}queries/files/<int:job>/queries.csv", queries.made_file, name="queries_file"),
    path(f"{_P}queries/<int:pk>/", queries.query, name="query"),
    path(f"{_P}queries/<int:pk>/decide/", queries.decide, name="decide_query"),
    path(f"{_P}queries/<int:pk>/take-out/", queries.take_out, name="take_out"),
    path(f"{_P}queries/<int:pk>/put-back/", queries.back, name="put_back"),
    *imports.IMPORTS.paths(f"{_P}imports/"),
    path(f"{_P}sources/<int:pk>/", imports.source, name="source"),
    path(f"{_P}adjudication/", review.adjudication_queue, name="adjudication"),
    path(_CASE, review.case_page, name="case"),
    path(f"{_CASE}next/", review.next_case, name="following"),
    path(f"{_CASE}accept/", review.accept_case, name="accept"),
    path(f"{_CASE}exclude/", review.exclude_case, name="exclude"),
    path(f"{_CASE}curate/", review.curate_case, name="curate"),
    path(f"{_CASE}doubts/<int:doubt>/", review.settle_doubt, name="settle_doubt"),
    path(f"{_CASE}unanswerable/", review.unanswerable_case, name="unanswerable"),
    path(f"{_S}agreement/", overview.agreement, name="agreement"),
    *_REVIEW,
    *CORPORA,
]
