"""Models and operations of the API. Written from docs/openapi.json by `generate.py`; not by hand."""
