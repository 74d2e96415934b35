# The image of Distillery with PostgreSQL's client programs, which `manage.py backup` runs.
FROM distillery
USER root
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && install --directory --owner distillery --group distillery --mode 0700 /backups /keys
USER distillery
