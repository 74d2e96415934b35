"""The kit of the REST API: who may, problems, pages of rows, streams, requests that come again.

An app brings operations in a module `api` with `RESOURCES`, named by an `ApiPart` in its extension. The
module is loaded with the first request below /api/: no start waits for it.
"""
