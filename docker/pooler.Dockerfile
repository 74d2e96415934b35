# PgBouncer of Debian, in transaction mode, for hosts.yaml.
FROM debian:12-slim@sha256:60eac759739651111db372c07be67863818726f754804b8707c90979bda511df
RUN apt-get update \
    && apt-get install --yes --no-install-recommends pgbouncer postgresql-client \
    && rm -rf /var/lib/apt/lists/*
COPY pgbouncer.ini /etc/pgbouncer/distillery.ini
USER postgres
CMD ["pgbouncer", "/etc/pgbouncer/distillery.ini"]
