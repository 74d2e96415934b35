"""`manage.py train-kpqa`, `manage.py train-adem`, `manage.py paper`."""
