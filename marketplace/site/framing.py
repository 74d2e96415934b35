"""The requester's task page in a frame of ours: where it may come from, and what it may do there."""

from collections.abc import Callable
from typing import cast

from csp.constants import SELF
from csp.decorators import csp_update
from django.http import HttpResponse

#: Content-Security-Policy of pages with a task frame: any https page, http on loopback only.
FRAME_SOURCES = {
    "frame-src": [SELF, "https:", "http://127.0.0.1:*", "http://localhost:*", "http://*.localhost:*"]
}
#: A task page at work. Its own origin keeps its storage; it leaves the frame only when the worker clicks.
AT_WORK = (
    "allow-scripts allow-forms allow-same-origin allow-popups allow-popups-to-escape-sandbox "
    "allow-top-navigation-by-user-activation allow-downloads"
)
#: A task page that is only looked at: everything but sending something off.
PREVIEW = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"


View = Callable[..., HttpResponse]


def may_frame_tasks(view: View) -> View:
    """The page may hold a task frame; no other page of ours may hold a frame at all."""
    return cast(View, csp_update(FRAME_SOURCES)(view))
