# Two commands do everything on a machine with git, make and Python 3.11 or newer: make demo, make test.

# Commands to look for a Python in, in order; say PYTHON=/path/to/python to choose one.
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
VENV ?= .venv

python := $(shell for python in $(PYTHON); do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

need_python = $(if $(python),,$(error domsieve needs Python 3.11 or newer and found none as: $(PYTHON). \
	Install one, or name it: make PYTHON=/path/to/python3.11))

need_data = $(if $(wildcard $(DATA)/.),,$(error Where are the corpora? There is no folder '$(DATA)'. \
	Name it: make $@ DATA=/path/to/data))

# Compiled modules are kept, whatever the shell says of them: tests start many processes, and each would compile anew
# what it imports.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache

# The files in the order of tests/conftest.py, the slowest first.
pytest = $(VENV)/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# One version of each package for all Pythons, so that all are tested, and types checked, with the same.
compile := uv pip compile --upgrade --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url pyproject.toml

# What users install, and what lists it (CycloneDX). No lock has what only mcp and ray need: the newest versions count.
user_extras := bulk,mcp,parquet,pixels,ray,serve
list_packages := build/sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible

.PHONY: help setup demo test quick test-all fuzz docs container integrations evaluate bench sbom lock release-check

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile

setup: ## make the locked environment, find or install Chrome
	$(need_python)@$(python) tools/setup_env.py $(VENV)

demo: setup ## render and clean the demo site, or a real one: make demo SITE=https://...
	@$(VENV)/bin/python -m examples.demo $(if $(SITE),--site "$$SITE")

test: setup ## run the tests, check style and types
	$(pytest)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

quick: ## run the tests that need no browser and no corpora, in a minute and a half on two idle cores
	$(need_python)@$(python) tools/setup_env.py --without-browser $(VENV)
	$(pytest) -m "not browser and not data and not slow"

test-all: ## the same on the oldest and the newest Python, pages by the other driver, all steps of the docs
	$(need_python)@pythons=$$($(python) tools/pythons.py) && echo "$$pythons" | while read -r version path; do \
		echo "== Python $$version: $$path"; \
		$(MAKE) test PYTHON=$$path VENV=build/venv-$$version </dev/null || exit 1; \
	done
	@echo "== The other driver"; $(MAKE) setup && DOMSIEVE_TEST_DRIVER=other $(pytest) -m browser tests/renderer
	@echo "== The long pages of the documentation"; DOMSIEVE_TEST_DOCS=all $(pytest) tests/docs
	@echo "== The site of the documentation"; $(MAKE) docs

fuzz: setup ## try hostile inputs and keep those that fail: make fuzz MINUTES=90 ONLY="reader writers" SEED=1
	$(VENV)/bin/python -m tools.fuzz --minutes $(or $(MINUTES),90) $(if $(SEED),--seed $(SEED)) --only $(ONLY)

docs: setup ## make a site of docs/ that works without a network: build/site/index.html
	$(VENV)/bin/sphinx-build -W --keep-going -q --fresh-env -b html -c tools/docs_site -d build/doctrees . build/site
	@echo "Open build/site/index.html"

container: ## build the image of the service, where Docker runs, and start it once
	docker build --tag domsieve .
	docker run --rm --entrypoint domsieve domsieve doctor

integrations: setup ## test what is for other packages, in environments of their own: make integrations NAME=mcp
	$(VENV)/bin/python tools/integrations.py $(NAME)

evaluate: ## repeat all experiments: make evaluate DATA=/path/to/data
	$(need_data)@$(MAKE) setup
	@mkdir -p build
	@if command -v npm >/dev/null && $(VENV)/bin/python tools/node_packages.py "$(DATA)" build/npm; then \
		modules="--node-modules build/npm/node_modules"; \
	else \
		echo "There is no npm, or it failed: the experiment javascript is left out." >&2; \
	fi; \
	$(VENV)/bin/python -m experiments all --data "$(DATA)" $$modules \
		-o build/evaluation --document build/evaluation/results.md

bench: ## measure speed and memory beside other programs, in 25 minutes: make bench DATA=/path/to/data
	$(need_data)@$(MAKE) setup
	$(VENV)/bin/python -m benchmarks.everything --data "$(DATA)"

sbom: setup ## list what users install, with versions and licences, in build/sbom.json; the service alone in sbom-serve.json
	$(VENV)/bin/python -m venv --clear build/sbom/all
	$(VENV)/bin/python -c 'from tools.integrations import constraints; print(constraints())' >build/sbom/constraints.txt
	build/sbom/all/bin/pip install --quiet --constraint build/sbom/constraints.txt '.[$(user_extras)]'
	$(VENV)/bin/python -m venv --clear build/sbom/serve
	build/sbom/serve/bin/pip install --quiet --require-hashes -r requirements.lock
	build/sbom/serve/bin/pip install --quiet --no-deps .
	$(VENV)/bin/python -m venv --clear build/sbom/tool
	build/sbom/tool/bin/pip install --quiet 'cyclonedx-bom>=7,<8'
	$(list_packages) build/sbom/all/bin/python --output-file build/sbom.json
	$(list_packages) build/sbom/serve/bin/python --output-file build/sbom-serve.json

release-check: ## build wheel and source archive, and try them in a clean environment
	$(need_python)@$(python) tools/release_check.py

lock: ## choose the newest versions that pyproject.toml allows, with hashes
	@command -v uv >/dev/null || { echo "make lock needs uv: pipx install uv" >&2; exit 1; }
	$(compile) --extra dev --extra evaluate --extra serve -o requirements-dev.lock
	$(compile) --extra serve --constraint requirements-dev.lock -o requirements.lock
