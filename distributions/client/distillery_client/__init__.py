"""Client of the REST API of a Distillery installation."""

from distillery_client.client import AsyncClient, Client, Project, Release, Stage
from distillery_client.errors import ApiError, DistilleryError, JobFailedError, UnreachableError
from distillery_client.generated import models
from distillery_client.progress import ProgressUpdate
from distillery_client.rows import Rows
from distillery_client.sending import VERSION, RetryPolicy

__version__ = VERSION
__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "DistilleryError",
    "JobFailedError",
    "ProgressUpdate",
    "Project",
    "Release",
    "RetryPolicy",
    "Rows",
    "Stage",
    "UnreachableError",
    "models",
]
