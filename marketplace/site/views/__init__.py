"""Pages of the worker site and of the desk."""
