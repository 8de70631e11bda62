# make run     set everything up and serve http://127.0.0.1:8000 (HOST=, PORT= change it)
# make test    set everything up, run all checks and tests
# make check   linters, types, import contracts, licences, known vulnerabilities
# make lock    requirements*.in -> requirements*.lock
# make bench   measure speed and memory (docs/performance.md)
# Works with GNU make 3.81, which macOS ships. Safe to repeat; does only what is missing.

HOST ?= 127.0.0.1
PORT ?= 8000
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
IN_TESTS := KBQA_ENV_FILE= DJANGO_SETTINGS_MODULE=kbqa_project.settings
CATALOGUES := $(wildcard locale/*/LC_MESSAGES/*.po)

.PHONY: run test check lint types contracts packages lock bench venv install install-dev messages browser

run: install messages
	@exec $(PY) manage.py serve --host $(HOST) --port $(PORT)

test: install-dev messages browser check
	@$(PY) -m coverage erase
	@KBQA_ENV_FILE= $(PY) -m coverage run -m pytest -q
	@$(PY) -m coverage report

check: install-dev messages lint types contracts packages

lint:
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@find templates -name '*.html' -exec $(VENV)/bin/djade --check {} +
	@KBQA_DATA_DIR=$(VENV)/check $(IN_TESTS) $(PY) manage.py check --fail-level WARNING
	@KBQA_DATA_DIR=$(VENV)/check $(IN_TESTS) $(PY) manage.py makemigrations --check --dry-run

types:
	@KBQA_DATA_DIR=$(VENV)/check $(IN_TESTS) $(VENV)/bin/mypy

contracts:
	@$(VENV)/bin/lint-imports
	@$(VENV)/bin/deptry .

packages:
	@$(PIP) check
	@$(PY) -m checks.licences
	@$(PY) -m checks.vulnerabilities requirements.lock

# The copy of a lock file inside the environment tells what is installed there.
install: venv
	@cmp -s requirements.lock $(VENV)/requirements.lock \
	  || cmp -s requirements-dev.lock $(VENV)/requirements-dev.lock \
	  || { echo "installing packages"; \
	       $(PIP) install -qq --require-hashes -r requirements.lock \
	       && cp requirements.lock $(VENV)/requirements.lock; }

install-dev: venv
	@cmp -s requirements-dev.lock $(VENV)/requirements-dev.lock \
	  || { echo "installing packages for tests"; \
	       $(PIP) install -qq --require-hashes -r requirements-dev.lock \
	       && cp requirements.lock requirements-dev.lock $(VENV)/; }

venv:
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || { \
	  for python in $(PYTHON) python3.12 python3.13 python3.14 python3 python; do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || continue; \
	    echo "making $(VENV) with $$python"; \
	    $$python -m venv --clear $(VENV) && exit 0; \
	    echo "$$python cannot make a virtual environment: install its venv package" >&2; exit 1; \
	  done; \
	  echo "Python 3.12 or newer is needed; name it with make PYTHON=/path/to/python" >&2; exit 1; }

# Compiled by Babel, so that gettext need not be installed.
messages: $(CATALOGUES:.po=.mo)

%.mo: %.po
	@$(PY) -m babel.messages.frontend --quiet compile --input-file $< --output-file $@ --locale en

browser:
	@$(PY) -m checks.browser

lock:
	@$(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --no-strip-extras \
	  --no-emit-index-url --python-version 3.12 requirements.in -o requirements.lock
	@$(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --no-strip-extras \
	  --no-emit-index-url --python-version 3.12 requirements-dev.in -c requirements.lock -o requirements-dev.lock

bench: install-dev messages
	@KBQA_ENV_FILE= $(PY) -m benchmarks
