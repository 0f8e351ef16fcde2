# Three commands on a fresh machine: make demo, make test, make docs. Everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo docs test quick clean

demo: $(VENV)/installed
	$(BIN)/holdsup demo

docs: $(VENV)/installed-dev
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/docs

test: $(VENV)/installed-dev
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check

quick: $(VENV)/installed-dev
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check --quick

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "holdsup needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(VENV)/installed $@

clean:
	rm -rf $(VENV) build dist
