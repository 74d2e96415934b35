"""Addresses of the marketplace, at the root as on the real worker site."""

from django.urls import include, path, re_path

from marketplace.forms import uploads
from marketplace.protocol import testcontrols
from marketplace.site import frames, taskpages, workerapi

urlpatterns = [
    re_path(
        r"^s/(?P<signature>[A-Za-z0-9_-]+)(?:~[0-9a-f.]*)?/{1,2}mturk/externalSubmit/?$",
        taskpages.signed_submit,
        name="signed-submit",
    ),
    re_path(
        r"^uploads/(?P<signature>[A-Za-z0-9_-]+)/mturk/externalSubmit$",
        taskpages.signed_upload,
        name="signed-upload",
    ),
    re_path(r"^mturk/files/(?P<signature>[A-Za-z0-9_-]+)$", uploads.lent_file, name="lent-file"),
    re_path(r"^(?:/|)mturk/externalSubmit/?$", taskpages.bare_submit, name="bare-submit"),
    re_path(r"^s/(?P<signature>[A-Za-z0-9_-]+)/task$", taskpages.signed_task, name="signed-task"),
    re_path(r"^p/(?P<signature>[A-Za-z0-9_-]+)/task$", taskpages.signed_preview, name="signed-preview"),
    re_path(r"^b/(?P<signature>[A-Za-z0-9_.~-]+)/task$", frames.look, name="batch-frame"),
    path("worker-api/next", workerapi.next_task),
    path("worker-api/accept", workerapi.accept),
    path("worker-api/return", workerapi.give_back_task),
    path("worker-api/qualification", workerapi.ask_for_qualification),
    path("worker-api/test/<slug:request_id>", workerapi.hand_in_test, name="worker-api-test"),
    path("mturk/test/clock", testcontrols.advance_clock),
    path("mturk/test/chaos", testcontrols.set_chaos),
    path("mturk/test/reset", testcontrols.reset),
    path("requester/", include("marketplace.requester.urls")),
    path("", include("marketplace.site.urls")),
]
