"""Backups: one folder with the database and all files that belong to it, and a file with the keys apart.

folder.py     the folder, its manifest and digests
databases.py  SQLite and PostgreSQL, by their own tools
files.py      releases, models and uploads
saving.py     making a backup
restoring.py  putting one into an empty installation
"""
