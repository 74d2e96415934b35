# What a newcomer, a developer and the build run. Needs make and Python 3.11 or newer; the rest it fetches itself.

VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
SERVE ?= 1
WORKERS ?= 2
ARGS ?=

PYTEST := $(BIN)/pytest $(ARGS)
# A file stays in one process, so that what its tests share is made once; the longest begin (tests/conftest.py).
SPREAD := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
NOT_HERE := not browser and not clients and not hosts
NO_DATABASE := $(addprefix --ignore=tests/,metrics plots outbound rates \
	$(addprefix retrieval/,text readers engine crown evaluation network ranking) \
	$(addprefix annotation/test_,flags.py rules.py search_conversation.py) \
	$(addprefix annotation/importing/test_,bad_input.py formats.py long_values.py sampling.py screening.py tables.py) \
	$(addprefix batches/test_,placeholders.py sheets.py) \
	$(addprefix client/test_,client.py examples.py progress.py transfers.py waits_and_errors.py) \
	$(addprefix contracts/test_,scores.py startup.py surface.py) \
	$(addprefix crowd/test_,bundles.py classify.py deadlines.py) \
	$(addprefix crowd/panels/test_,books.py contract.py damaged_calls.py rules.py serving.py) \
	$(addprefix distillery/test_,env.py web_worker.py workerpool.py) \
	$(addprefix evaluations/test_,answer.py evaluate_command.py evaluate_docs.py evaluate_marco.py honest_ceilings.py \
		learned_commands.py models_asked.py papers.py points.py questions_told.py report_form.py report_page.py \
		score_command.py simulated_tables.py table_reading.py train_adem_command.py train_kpqa_command.py) \
	$(addprefix marketplace/test_,answerkey.py policies.py questionform.py task_documents.py values.py) \
	$(addprefix releases/test_,blocks.py datacards.py diffing.py formats_of_others.py json_cells.py privacy_rules.py \
		serving.py splits.py spool.py verifying.py writers.py) \
	$(addprefix simulation/test_,answers.py page.py profiles.py) \
	$(addprefix storage/test_,bucket_probe.py store.py) \
	$(addprefix study/test_,locate.py reading.py reference.py) \
	$(addprefix tables/test_,allocation.py cells.py decimals.py encodings.py keys.py workbooks.py) \
	demo/test_task_page.py judgments/test_filter_command.py robustness/test_import_files.py site/test_words.py \
	upgrades/test_contraction.py test_docker.py test_examples.py test_repository.py test_running_server.py \
	test_style_sheets.py test_wheel.py)
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	$(if $(UPGRADE),--upgrade)
# A lock names all there is to install, so that pip has nothing to work out.
INSTALL := pip install --quiet --disable-pip-version-check --require-hashes --no-deps --no-compile
# By all cores, where pip takes one. Templates that are no Python are among the files: an error is none of ours.
COMPILE_MODULES := python -W ignore -m compileall -qq -j 0

.DEFAULT_GOAL := help
.PHONY: help env env-dev demo run test test-services test-browser test-clients hosts check check-types check-code check-imports check-django check-repository check-tests lock landed-migrations contracts openapi package-map papers version-dumps benchmark benchmark-scale coverage shape clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

env: $(VENV)/.base ## make .venv with what an installation needs
env-dev: $(VENV)/.dev ## add what tests and linters need

demo: env ## campaigns to look at on http://localhost:8000 (SERVE=0: stop when they are set up; PORT=n)
	SERVE=$(SERVE) PORT=$(PORT) $(BIN)/python manage.py demo

run: env ## web server, job worker and timer on this machine (PORT=n)
	PORT=$(PORT) $(BIN)/python manage.py up

test: env-dev ## all tests but those in a browser, on SQLite (ARGS="tests/jobs -x")
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) $(SPREAD) -m "$(NOT_HERE)"

test-services: env-dev ## the same tests on PostgreSQL and Redis, started for them; without those that use no database
	$(BIN)/python .ci/services.py -- $(PYTEST) $(SPREAD) -m "$(NOT_HERE)" $(NO_DATABASE)

test-browser: env-dev ## the tests that drive chromium
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) $(SPREAD) -m browser $(if $(findstring tests/,$(ARGS)),,tests/browser)

hosts: env-dev ## two web hosts and two job hosts on real engines: nginx, PgBouncer, Redis, S3 (Debian's packages)
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) -n 0 -m hosts tests/robustness/hosts $(ARGS)

test-clients: env-dev .clients/.made ## other people's programs against our marketplace: aws command line, psiTurk, Mephisto, SDKs for JavaScript, R's paws if it is there
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) $(SPREAD) -m clients tests/clients_of_others

check: check-types check-code check-imports check-django check-repository check-tests ## linters, types, layers of imports, migrations, settings

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
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python manage.py makemigrations --check --dry-run
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python manage.py check

check-repository: env-dev ## of these, what the repository says of itself
	$(BIN)/pytest tests/test_docker.py tests/test_repository.py

# Beside the types, on the other core: their modules are compiled before several processes want all of them at once.
check-tests: env-dev ## of these, that all tests can be collected
	@echo "$(BIN)/pytest --collect-only tests"
	@said=$$($(BIN)/pytest --collect-only --quiet tests 2>&1) || { echo "$$said"; exit 1; }

lock: env-dev ## write requirements/*.txt anew from *.in (UPGRADE=1: newest versions)
	$(COMPILE) requirements/base.in -o requirements/base.txt
	$(COMPILE) --config-file requirements/dev.toml -c requirements/base.txt -c requirements/torch.in --no-emit-package torch \
	requirements/dev.in -o requirements/dev.txt
	$(COMPILE) -c requirements/dev.txt requirements/torch.in -o requirements/torch.txt
	$(COMPILE) -c requirements/dev.txt requirements/opensearch.in -o requirements/opensearch.txt
	$(COMPILE) -c requirements/dev.txt requirements/otel.in -o requirements/otel.txt
	$(COMPILE) --config-file requirements/clients.toml requirements/clients.in -o requirements/clients.txt

landed-migrations: env-dev ## freeze new migrations: add their digests to tests/upgrades/landed_migrations.txt
	$(BIN)/python -m tests.upgrades.landed

contracts: env-dev ## write what must stay as it is, as text files, after a change that is meant (ARGS="tests/contracts -k urls")
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python -m tests.contracts.write $(ARGS)

openapi: env-dev ## write docs/openapi.json after a change of the API that is meant
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python -m tests.api.write

papers: env-dev ## write the reports of the papers' samples in docs/papers
	@for paper in $$($(BIN)/python manage.py paper --list --json | $(BIN)/python -c 'import json, sys; print(*(each["paper"] for each in json.load(sys.stdin)))'); do \
	  folder=$$(mktemp -d) && $(BIN)/python manage.py paper $$paper --sample --report "$$folder" > /dev/null \
	  && cp "$$folder/report.md" docs/papers/$$paper.md && rm -r "$$folder" || exit 1; \
	done

package-map: env-dev ## write the maps of packages in docs/ from their docstrings
	$(BIN)/python -m tests.package_map

version-dumps: env-dev ## keep databases of this version for the tests of upgrades, when it is released
	$(BIN)/python .ci/services.py -- $(BIN)/python -m tests.upgrades.dump

benchmark: env-dev ## measure statistics, metrics, import, marketplace, our side of it, releases and the desk; with SETS=FOLDER retrieval too; two hours
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/metrics_pa.py
	$(BIN)/python benchmarks/metrics_meta.py
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/learned.py
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/marketplace.py --database both $(ARGS)
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/market_load.py
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/crowd.py --database both
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/desk.py
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python -m benchmarks.panel
	$(BIN)/python -m benchmarks.importing
	$(BIN)/python -m benchmarks.import_memory
	$(BIN)/python .ci/services.py --durable -- sh -ec '$(BULK_BENCHMARK)'
ifdef SETS
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/retrieval.py "$(SETS)"
	$(BIN)/python benchmarks/network.py "$(SETS)"
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/ranking.py "$(SETS)"
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/search_page.py "$(SETS)"
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python benchmarks/search_http.py "$(SETS)"
else
	@echo "Retrieval, networks, ranking and the search page were not measured: name a folder of judged sets with SETS=FOLDER (benchmarks/retrieval.py)."
endif

benchmark-scale: env-dev ## fill PostgreSQL with ten million judgments, open every page, run every job; two hours, 60 GB (ARGS="--judgments 1000000")
	env -u DATABASE_URL -u REDIS_URL $(BIN)/python -m benchmarks.scale $(ARGS)

# A campaign of a million judgments, filters and report over it, and its release, beside a PostgreSQL that writes to disk.
BULK_BENCHMARK := $(BIN)/python manage.py migrate --verbosity 0; $(BIN)/python -m benchmarks.campaign --queries 20000 --no-filters; \
	$(BIN)/python -m benchmarks.filters; $(BIN)/python -m benchmarks.releases

coverage: env-dev ## the share of lines that the tests of `make test` reach; by file, lowest first
	$(BIN)/coverage erase
	env -u DATABASE_URL -u REDIS_URL $(BIN)/coverage run -m pytest $(ARGS) $(SPREAD) -m "$(NOT_HERE)"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

shape: env-dev ## the structure of the code in numbers: files, circles, names, comments
	$(BIN)/python -m benchmarks.shape

clean: ## remove the environment and caches; data in var/ stays
	rm -rf $(VENV) .clients .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* *.egg-info build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is younger than its lock as long as the environment holds what the lock names.
$(VENV)/.base: requirements/base.txt | $(BIN)/pip
	$(BIN)/$(INSTALL) -r $<
	@$(BIN)/$(COMPILE_MODULES) $(VENV)/lib || true
	@touch $@

# PyTorch for the processor alone where pip finds that build; else the common one, which brings 5 GB of CUDA on Linux.
$(VENV)/.dev: requirements/dev.txt requirements/torch-cpu.txt requirements/torch.txt $(VENV)/.base
	$(BIN)/$(INSTALL) -r $<
	$(BIN)/$(INSTALL) -r requirements/torch-cpu.txt 2>/dev/null || $(BIN)/$(INSTALL) -r requirements/torch.txt
	@$(BIN)/$(COMPILE_MODULES) $(VENV)/lib || true
	@touch $@

# Amazon's SDKs for JavaScript come from npm by a lock that names versions and digests, and no registry.
SDKS := tests/clients_of_others/javascript/package
.clients/.made: requirements/clients.txt $(SDKS).json $(SDKS)-lock.json | $(BIN)/pip
	$(BIN)/python -m venv --clear .clients
	.clients/bin/$(INSTALL) -r $<
	mkdir .clients/javascript && cp $(SDKS).json $(SDKS)-lock.json .clients/javascript
	npm ci --prefix .clients/javascript --silent --no-audit --no-fund --ignore-scripts --omit=optional
	@.clients/bin/$(COMPILE_MODULES) .clients/lib || true
	@touch $@

$(BIN)/pip:
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
		"$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		echo "$$python -m venv $(VENV)"; \
		exec "$$python" -m venv --clear $(VENV); \
	done; \
	echo "Distillery needs Python 3.11 or newer with its venv module, and found none." >&2; \
	echo "Install it (Debian, Ubuntu: apt-get install python3 python3-venv), or name one: make env PYTHON=/path/to/python3" >&2; \
	exit 1
