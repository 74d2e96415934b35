"""WSGI entry point."""

import contextlib
import os

from django.core.wsgi import get_wsgi_application
from django.urls import NoReverseMatch, get_resolver, reverse

from core.extensions import all_parts
from core.storage_outages import OF_PAGES, choose_timeouts
from distillery.dbtimeouts import limit_connections

os.umask(0o077)  # what it writes is nobody else's
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
application = get_wsgi_application()
limit_connections("web")
choose_timeouts(OF_PAGES)
all_parts()  # what apps add to pages: loaded before the first page asks for it
# Django prepares a namespace's addresses at the first link to it. That takes 0.1 s for all of them: now, not
# while the first page waits.
for _namespace in get_resolver().namespace_dict:
    with contextlib.suppress(NoReverseMatch):
        reverse(f"{_namespace}:-")
