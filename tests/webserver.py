"""gunicorn for tests: it ends with the process that started it, also where that was killed outright.

    python -m tests.webserver OPTIONS APPLICATION

The environment names the pipe whose other end that process holds (`distillery.lifeline`).
"""

from gunicorn.app.wsgiapp import run

from distillery import lifeline

if __name__ == "__main__":
    lifeline.watch()
    run()
