# PgBouncer of Debian, in transaction mode, for hosts.yaml.
FROM debian:12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends pgbouncer postgresql-client \
    && rm -rf /var/lib/apt/lists/*
COPY pgbouncer.ini /etc/pgbouncer/distillery.ini
USER postgres
CMD ["pgbouncer", "/etc/pgbouncer/distillery.ini"]
