"""Addresses of the heritage, in the sections of workers and of requesters."""

from django.urls import path

from marketplace.heritage import file_pages, requester_pages, site_pages

SITE = [
    path("profile/mturk-id", site_pages.former_id, name="former_id"),
    path("profile/export", site_pages.export, name="export"),
]
_R = "<slug:requester>/"
_FILE = f"{_R}files/<int:number>/"
_KIND = f"{_R}qualifications/<slug:kind>/"
REQUESTER = [
    path(f"{_R}bonuses/", file_pages.bonuses, name="bonus_files"),
    path(f"{_FILE}", file_pages.file_page, name="worker_file"),
    path(f"{_FILE}live/", file_pages.live_file, name="worker_file_live"),
    path(f"{_FILE}confirm/", file_pages.confirm_file, name="worker_file_confirm"),
    path(f"{_FILE}withdraw/", file_pages.withdraw_file, name="worker_file_withdraw"),
    path(f"{_FILE}continue/", file_pages.continue_file, name="worker_file_continue"),
    path(f"{_R}mturk-ids/", requester_pages.former_ids, name="former_ids"),
    path(f"{_R}mturk-ids/contested/", requester_pages.conflicts, name="former_id_conflicts"),
    path(f"{_R}mturk-ids/settle/", requester_pages.settle, name="settle_former_id"),
    path(f"{_R}topics/", requester_pages.topics, name="topics"),
    path(f"{_R}topics/<int:pk>/resend/", requester_pages.resend_message, name="topic_resend"),
    path(f"{_KIND}upload/", file_pages.upload, name="upload_grants"),
]
