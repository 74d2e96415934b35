"""Addresses of the requester site. Below the first, all of them name the requester by its customer id."""

from django.urls import path

from marketplace.requester.views import decide, hits, overview, review, workers

app_name = "requester"
_R = "<slug:requester>/"
_HIT = f"{_R}hits/<slug:hit_id>/"
_WORK = f"{_R}work/<int:pk>/"
_WORKER = f"{_R}workers/<slug:worker_id>/"
urlpatterns = [
    path(_R, overview.overview, name="overview"),
    path(f"{_R}hits/", hits.listing, name="hits"),
    path(_HIT, hits.hit, name="hit"),
    path(f"{_HIT}task/", hits.question, name="hit_question"),
    path(f"{_HIT}more-time/", hits.more_time, name="hit_more_time"),
    path(f"{_HIT}more-places/", hits.more_places, name="hit_more_places"),
    path(f"{_HIT}expire/", hits.expire, name="hit_expire"),
    path(f"{_HIT}reviewing/", hits.reviewing, name="hit_reviewing"),
    path(f"{_HIT}delete/", hits.delete, name="hit_delete"),
    path(f"{_R}review/", review.by_hit, name="review"),
    path(f"{_R}review/workers/", review.by_worker, name="review_by_worker"),
    path(f"{_R}review/work/", review.table, name="review_table"),
    path(f"{_R}review/work/approve/", decide.approve_chosen, name="approve_chosen"),
    path(f"{_R}review/hits/<slug:hit_id>/", review.of_hit, name="review_hit"),
    path(f"{_R}review/hits/<slug:hit_id>/approve/", decide.approve_hit, name="approve_hit"),
    path(f"{_R}review/workers/<slug:worker_id>/", review.of_worker, name="review_worker"),
    path(f"{_R}review/workers/<slug:worker_id>/approve/", decide.approve_worker, name="approve_worker"),
    path(_WORK, review.work, name="work"),
    path(f"{_WORK}answer.xml", review.answer_file, name="answer"),
    path(f"{_WORK}approve/", decide.approve, name="approve"),
    path(f"{_WORK}reject/", decide.reject, name="reject"),
    path(f"{_WORK}bonus/", decide.bonus, name="bonus"),
    path(f"{_R}workers/", workers.listing, name="workers"),
    path(f"{_R}message/", workers.message, name="message"),
    path(_WORKER, workers.worker, name="worker"),
    path(f"{_WORKER}block/", workers.block, name="block"),
    path(f"{_WORKER}unblock/", workers.unblock, name="unblock"),
    path(f"{_WORKER}grant/", workers.grant, name="worker_grant"),
]
