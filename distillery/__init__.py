"""The Django project: settings, root urls, the Celery application and the commands `up`, `demo`, `doctor`."""

from distillery.celery import app as celery_app

__all__ = ["celery_app"]
