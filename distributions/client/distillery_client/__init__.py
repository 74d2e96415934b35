"""Client of the REST API of a Distillery installation."""

from distillery_client.async_client import AsyncClient, AsyncProject, AsyncRelease, AsyncStage
from distillery_client.async_rows import AsyncRows
from distillery_client.client import Client, Project, Release, Stage
from distillery_client.errors import (
    ApiError,
    BrokenOffError,
    ChangedError,
    ConflictError,
    DistilleryError,
    ForbiddenError,
    InvalidError,
    JobFailedError,
    NotFoundError,
    RateLimitError,
    ServerError,
    TokenError,
    UnreachableError,
    WaitTimeoutError,
)
from distillery_client.generated import models
from distillery_client.progress import ProgressUpdate
from distillery_client.rows import Rows
from distillery_client.sending import VERSION, RetryPolicy

__version__ = VERSION
__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncProject",
    "AsyncRelease",
    "AsyncRows",
    "AsyncStage",
    "BrokenOffError",
    "ChangedError",
    "Client",
    "ConflictError",
    "DistilleryError",
    "ForbiddenError",
    "InvalidError",
    "JobFailedError",
    "NotFoundError",
    "ProgressUpdate",
    "Project",
    "RateLimitError",
    "Release",
    "RetryPolicy",
    "Rows",
    "ServerError",
    "Stage",
    "TokenError",
    "UnreachableError",
    "WaitTimeoutError",
    "models",
]
