"""Whether this worker process was asked to stop. Needs no models, so that the pool of threads may ask too."""

import threading

#: Jobs see it when they next report progress.
stopping = threading.Event()
