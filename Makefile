# What a newcomer, a developer and the build run. Needs make and Python 3.11 or newer; the rest it fetches itself.

VENV := .venv
BIN := $(VENV)/bin
CLIENT := distributions/client/distillery_client
#: Packages in distributions/ that add an app: to an installation, and to the environment of tests.
APPS := panel-simulator
APPS_DEV := learned
PORT ?= 8000
SERVE ?= 1
LIVE ?= 0
WORKERS ?= 2
ARGS ?=
ALL ?=

# Images of containers often have Python keep no compiled modules: each process would compile all of ours again.
unexport PYTHONDONTWRITEBYTECODE
# Each process has files of its own (tests/shards.py), which tests/durations.txt gives out.
SHARDS := $(BIN)/python -m tests.shards --workers $(WORKERS)
# The languages of workers' pages but English, and folders without such pages.
LANGUAGES := ar de es fr hi ja pt sw zh_Hans
#: Pages of the desk are in these alone, and what they say is in these sources, which others' catalogues leave out.
DESK_LANGUAGES := de
DESK := shell.html templates/desk templates/kit templates/notices \
	$(patsubst %,templates/parts/%.html,audit_chain choose_all columns grid_filters grid_head plot revision saved_views shortcuts) \
	extension.py web/nav.py crowd/desk
NO_PAGES := .venv benchmarks build distributions docs tests var
GATHER = $(ON_SQLITE) $(BIN)/python manage.py makemessages --no-location --no-obsolete $(NO_PAGES:%=--ignore=%)
ON_SQLITE := env -u DATABASE_URL -u REDIS_URL
WITH_SERVICES := $(BIN)/python .ci/services.py --
#: Folders that a target of their own runs.
APART := tests/browser tests/clients_of_others tests/robustness/hosts
NOT_LONG := -m "not long"
# What kills processes, races, or simulates a crowd runs once in each build: on PostgreSQL and Redis.
KILLED := $(addprefix tests/,annotation/test_campaign.py batches/test_killed.py crowd/test_concurrency.py \
	crowd/test_crashes.py evaluations/test_killed.py evaluations/test_real_workers.py jobs/test_workers.py \
	judgments/test_judging_market.py marketplace/test_closed_over_http.py marketplace/test_closing_at_once.py \
	releases/test_killed.py requester/test_killed.py \
	$(addprefix robustness/test_,events.py kills.py ledger.py races.py restore.py slow_marketplace.py) \
	simulation/test_crowds.py webhooks/test_killed.py)
# What else PostgreSQL and Redis can change: claims, money, locks, jobs and messages, the audit log, upgrades (which
# open every kind of page), and large tables. Who may do what, pages, and what fuzzers send, is the same on both: that
# runs on SQLite.
ON_POSTGRES := $(KILLED) $(addprefix tests/,audit jobs projects rates upgrades \
	$(addprefix robustness/test_,late_posts.py locks.py pooler.py power_cuts.py) \
	$(addprefix annotation/test_,decided_again.py reviewed_work.py undone_review.py) \
	$(addprefix api/test_,idempotency.py paging.py) \
	$(addprefix batches/test_,extensions.py publishing.py results.py schedule.py) \
	$(addprefix conformance/test_,money.py review.py work.py) \
	$(addprefix crowd/,sources/test_quotas.py $(addprefix test_,budget.py collecting.py deciding_again.py \
		decisions.py dispatch.py epoch.py planning.py reconcile.py rollback.py rounds.py together.py)) \
	$(addprefix distillery/test_,broker.py canary.py checks.py health.py presence.py readiness.py reseal.py \
		retention.py schema.py up.py) \
	judgments/test_filter_jobs.py \
	$(addprefix marketplace/test_,all_or_nothing.py eligibility.py events.py life.py policies.py proofs.py \
		questions_asked.py) \
	releases/test_snapshot.py studylinks/test_guests.py tables/test_bulk.py webhooks/test_delivery.py \
	webhooks/test_slow.py test_late_rows.py test_running_server.py)
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	$(if $(UPGRADE),--upgrade)
# A lock names all there is to install, so that uv has nothing to work out.
INSTALL := uv pip install --quiet --require-hashes --no-deps

.DEFAULT_GOAL := help
.PHONY: help env env-dev client demo demo-file run test test-services test-browser test-clients test-all test-mutants test-dates hosts check check-types check-code check-imports check-django check-repository lock landed-migrations contracts openapi package-map papers messages schema version-dumps benchmark benchmark-scale coverage shape clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

env: $(VENV)/.base $(APPS:%=$(VENV)/.app-%) ## make .venv with what an installation needs
env-dev: $(VENV)/.dev client $(patsubst %,$(VENV)/.app-%,$(APPS) $(APPS_DEV)) ## add what tests and linters need

client: $(CLIENT)/generated/models.py ## write the modules of the Python client that follow from docs/openapi.json

demo: env ## campaigns to look at on http://localhost:8000 (LIVE=1: made before your eyes; SERVE=0: stop then; PORT=n)
	LIVE=$(LIVE) SERVE=$(SERVE) PORT=$(PORT) $(BIN)/python manage.py demo

demo-file: env ## run the demonstration's campaigns and keep them as the file that `make demo` begins with
	PORT=$(PORT) $(BIN)/python manage.py demo --write

run: env ## web server, job worker and timer on this machine (PORT=n)
	PORT=$(PORT) $(BIN)/python manage.py up

test: env-dev ## the tests of every commit, on SQLite: no browser, nothing long (ARGS="tests/jobs -x")
	$(ON_SQLITE) $(SHARDS) $(if $(ALL),,$(NOT_LONG)) $(patsubst %,--leave-out %,$(APART) $(if $(ALL),,$(KILLED))) $(ARGS)

test-services: env-dev ## what PostgreSQL and Redis can change, on both, which are started for it
	$(WITH_SERVICES) $(SHARDS) $(if $(ALL),,$(NOT_LONG)) $(APART:%=--leave-out %) $(if $(ALL)$(findstring tests/,$(ARGS)),,$(ON_POSTGRES)) $(ARGS)

test-browser: env-dev ## the tests that drive chromium
	$(ON_SQLITE) $(SHARDS) $(if $(ALL),,$(NOT_LONG)) $(if $(findstring tests/,$(ARGS)),,tests/browser) $(ARGS)

test-clients: env-dev .clients/.made ## other people's programs against our marketplace: aws command line, psiTurk, Mephisto, SDKs for JavaScript, R's paws if it is there
	$(ON_SQLITE) $(SHARDS) tests/clients_of_others $(ARGS)

hosts: env-dev ## two web hosts and two job hosts on real engines: nginx, PgBouncer, Redis, S3 (Debian's packages)
	$(ON_SQLITE) $(BIN)/pytest tests/robustness/hosts $(ARGS)

test-all: ## before a release, and when its subject is touched: everything, long tests too, on both databases; mutants; other dates
	TEST_ALL=1 $(MAKE) test test-services test-browser test-clients ALL=1
	$(MAKE) test-mutants test-dates

test-mutants: env-dev ## forty faults, one by one: which test finds each
	$(ON_SQLITE) $(BIN)/python -m tests.mutants

# A day, a week, a month and a year ahead, a leap day that ends its month, and a Sunday half an hour before Berlin's summer time.
DATES ?= +1d +8d +40d +400d 2028-02-29T12:00 2027-03-28T00:30
test-dates: env-dev ## the tests of `make test` at other dates, a run for each (DATES="+8d"; needs a C compiler)
	@for date in $(DATES); do \
	  echo "=== $$date"; \
	  $(ON_SQLITE) $(BIN)/python .ci/clock.py $$date -- $(SHARDS) $(NOT_LONG) $(APART:%=--leave-out %) $(ARGS) || exit 1; \
	done

check: check-types check-code check-imports check-django ## linters, types, layers of imports, migrations, settings

check-types: env-dev ## of these, types
	$(BIN)/mypy

check-code: env-dev ## of these, style of Python and shell
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@if command -v shellcheck >/dev/null; then echo "shellcheck .ci/run docker/prepare"; shellcheck .ci/run docker/prepare; \
	else echo "shellcheck is not installed: shell scripts were not checked"; fi

check-imports: env-dev ## of these, the layers of imports
	$(BIN)/lint-imports --no-cache

check-django: env-dev ## of these, migrations and settings
	$(ON_SQLITE) $(BIN)/python manage.py makemigrations --check --dry-run
	$(ON_SQLITE) $(BIN)/python manage.py check

check-repository: env-dev ## what the repository says of itself, which is among the tests, too
	$(BIN)/pytest tests/test_docker.py tests/test_repository.py

lock: env-dev ## rewrite requirements/*.txt from *.in (UPGRADE=1: newest versions)
	$(COMPILE) requirements/base.in -o requirements/base.txt
	$(COMPILE) --config-file requirements/dev.toml -c requirements/base.txt -c requirements/torch.in --no-emit-package torch \
	requirements/dev.in -o requirements/dev.txt
	$(COMPILE) -c requirements/dev.txt requirements/torch.in -o requirements/torch.txt
	$(COMPILE) -c requirements/dev.txt requirements/opensearch.in -o requirements/opensearch.txt
	$(COMPILE) -c requirements/dev.txt requirements/otel.in -o requirements/otel.txt
	$(COMPILE) -c requirements/dev.txt requirements/mcp.in -o requirements/mcp.txt
	$(COMPILE) requirements/uv.in -o requirements/uv.txt
	$(COMPILE) --config-file requirements/clients.toml requirements/clients.in -o requirements/clients.txt

landed-migrations: env-dev ## freeze new migrations: add their digests to tests/upgrades/landed_migrations.txt
	$(BIN)/python -m tests.upgrades.landed

contracts: env-dev ## write what must stay as it is, as text files, after a change that is meant (ARGS="tests/contracts -k urls")
	$(ON_SQLITE) $(BIN)/python -m tests.contracts.write $(ARGS)

openapi: env-dev ## write docs/openapi.json after a change of the API that is meant
	$(ON_SQLITE) $(BIN)/python -m tests.api.write

papers: env-dev ## write the reports of the papers' samples in docs/papers
	@for paper in $$($(BIN)/python manage.py paper --list --json | $(BIN)/python -c 'import json, sys; print(*(each["paper"] for each in json.load(sys.stdin)))'); do \
	  folder=$$(mktemp -d) && $(BIN)/python manage.py paper $$paper --sample --report "$$folder" > /dev/null \
	  && cp "$$folder/report.md" docs/papers/$$paper.md && rm -r "$$folder" || exit 1; \
	done

package-map: env-dev ## write the maps of packages in docs/ from their docstrings
	$(BIN)/python -m tests.package_map

messages: env-dev ## gather what pages say into distillery/locale and compile it, with gettext's programs
	$(GATHER) $(DESK_LANGUAGES:%=--locale=%)
	$(GATHER) $(patsubst %,--locale=%,$(filter-out $(DESK_LANGUAGES),$(LANGUAGES))) $(DESK:%=--ignore=%)
	sed -i '/^"POT-Creation-Date/d' distillery/locale/*/LC_MESSAGES/django.po
	$(ON_SQLITE) $(BIN)/python manage.py compilemessages $(LANGUAGES:%=--locale=%) $(NO_PAGES:%=--ignore=%)

schema: env-dev ## write distillery/schemas, which an empty database begins with, after a new migration
	$(WITH_SERVICES) $(BIN)/python -m tests.upgrades.schema

version-dumps: env-dev ## keep databases of this version for the tests of upgrades, when it is released
	$(WITH_SERVICES) $(BIN)/python -m tests.upgrades.dump

benchmark: env-dev ## measure starting, marketplace, API, imports, statistics and metrics; with SETS=FOLDER retrieval too; an hour
	$(ON_SQLITE) $(BIN)/python -m benchmarks.start
	$(ON_SQLITE) $(BIN)/python -m benchmarks.marketplace --database sqlite postgres $(ARGS)
	$(ON_SQLITE) $(BIN)/python -m benchmarks.market_hour
	$(ON_SQLITE) $(BIN)/python -m benchmarks.api --database sqlite postgres
	$(ON_SQLITE) $(BIN)/python -m benchmarks.imports
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.metrics
ifdef SETS
	$(ON_SQLITE) $(BIN)/python -m benchmarks.retrieval "$(SETS)"
else
	@echo "Retrieval was not measured: name a folder of judged sets with SETS=FOLDER (benchmarks/retrieval.py)."
endif

benchmark-scale: env-dev ## a project of a million judgments on PostgreSQL: every job, every page of the desk (ARGS="--judgments 100000")
	$(ON_SQLITE) $(BIN)/python -m benchmarks.scale $(ARGS)

coverage: env-dev ## the share of lines that the tests of `make test` reach; by file, lowest first
	$(BIN)/coverage erase
	$(ON_SQLITE) $(BIN)/coverage run -m tests.shards --workers $(WORKERS) $(NOT_LONG) $(APART:%=--leave-out %) $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

shape: env-dev ## the structure of the code in numbers: lines, functions, circles, names, comments
	$(BIN)/python -m tests.shape

clean: ## remove the environment and caches; data in var/ stays
	rm -rf $(VENV) .clients .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* *.egg-info build distributions/*/*.egg-info distributions/*/build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is younger than its lock as long as the environment holds what the lock names.
$(VENV)/.base: requirements/base.txt | $(BIN)/uv
	$(BIN)/$(INSTALL) -r $<
	@touch $@

# PyTorch for the processor alone where uv finds that build; else the common one, which brings 5 GB of CUDA on Linux.
# The lock for tests holds what an installation needs, too.
$(VENV)/.dev: requirements/dev.txt requirements/torch-cpu.txt requirements/torch.txt | $(BIN)/uv
	$(BIN)/$(INSTALL) -r $<
	UV_FIND_LINKS="$${UV_FIND_LINKS:-$$PIP_FIND_LINKS}" $(BIN)/$(INSTALL) -r requirements/torch-cpu.txt 2>/dev/null \
	|| $(BIN)/$(INSTALL) -r requirements/torch.txt
	@touch $(VENV)/.base $@

# Installed where it lies, so that its entry points are found. uv builds it alone: nothing is fetched.
$(VENV)/.app-%: distributions/%/pyproject.toml | $(BIN)/uv
	$(BIN)/uv pip install --quiet --no-deps --no-index --editable distributions/$*
	@touch $@

$(CLIENT)/generated/models.py: docs/openapi.json distributions/client/generate.py $(wildcard $(CLIENT)/async_*.py) | $(BIN)/uv
	$(BIN)/python distributions/client/generate.py

# Amazon's SDKs for JavaScript come from npm by a lock that names versions and digests, and no registry.
SDKS := tests/clients_of_others/javascript/package
.clients/.made: requirements/clients.txt $(SDKS).json $(SDKS)-lock.json | $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .clients
	$(BIN)/$(INSTALL) --python .clients -r $<
	mkdir .clients/javascript && cp $(SDKS).json $(SDKS)-lock.json .clients/javascript
	npm ci --prefix .clients/javascript --silent --no-audit --no-fund --ignore-scripts --omit=optional
	@touch $@

$(BIN)/uv:
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
		"$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		echo "$$python -m venv $(VENV)"; \
		"$$python" -m venv --clear $(VENV) || exit 1; \
		exec $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/uv.txt; \
	done; \
	echo "Distillery needs Python 3.11 or newer with its venv module, and found none." >&2; \
	echo "Install it (Debian, Ubuntu: apt-get install python3 python3-venv), or name one: make env PYTHON=/path/to/python3" >&2; \
	exit 1
