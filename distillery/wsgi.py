"""WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

from distillery.dbtimeouts import limit_connections

os.umask(0o077)  # what it writes is nobody else's
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
application = get_wsgi_application()
limit_connections("web")
