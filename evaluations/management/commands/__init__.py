"""`manage.py score`, `manage.py evaluate`."""
