"""What `manage.py up` starts: `python -m distillery.child web` or `… jobs`; it ends when `up` does."""

import os
import sys
import warnings

from celery.platforms import SecurityWarning  # type: ignore[attr-defined]
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

from distillery import gunicorn_conf, lifeline
from distillery.celery import WORKER_ARGUMENTS, app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")


class Web(BaseApplication):  # type: ignore[misc]
    """gunicorn with our configuration, whatever the current folder or the command line."""

    def load_config(self) -> None:
        """Take `distillery.gunicorn_conf`."""
        for name, value in vars(gunicorn_conf).items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> object:
        """Make the application, in each worker."""
        from distillery.wsgi import application  # noqa: PLC0415  # importing it starts Django

        return application


def serve() -> None:
    """Run the web server until it is stopped."""
    Web().run()


def work() -> None:
    """Run a jobs worker until it is stopped."""
    warnings.simplefilter("ignore", SecurityWarning)  # as root: `doctor` and `up` say it in one line
    app.worker_main(["--quiet", *WORKER_ARGUMENTS])


if __name__ == "__main__":
    lifeline.watch()
    {"web": serve, "jobs": work}[sys.argv[1]]()
