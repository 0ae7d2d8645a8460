# Everything sets itself up in .venv: a machine needs Python >= 3.11 and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: attack audit demo test lint docs pictures wheel versions database results clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest

# Attack for so many seconds; run again, it goes on. What it finds is kept in attack/finds and is a test from then on.
SECONDS ?= 600
attack: $(READY)
	$(BIN)/python -m attack --seconds $(SECONDS)

# Known vulnerabilities of what is installed; asks the database of the Python Package Index, and says so where it cannot.
audit: $(READY)
	@$(BIN)/python -m attack.audit
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m pip freeze --exclude-editable > build/audit/installed.txt
	build/audit/bin/pip-audit --strict --requirement build/audit/installed.txt --no-deps --disable-pip

# The output that pages show is what commands print now; the site is in site/, and needs no server.
docs: $(READY)
	$(BIN)/python docs/make_command_line.py
	$(BIN)/python docs/tutorial/make_notebook.py
	$(BIN)/python docs/run_blocks.py --write README.md docs/*.md docs/tutorial/[!n]*.md docs/howto/*.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The pictures of the page and of the report, taken in chromium.
pictures: $(READY)
	$(BIN)/python docs/make_pictures.py

# Both archives, the wheel in an empty environment of its own, and README and docs run with what it asks for.
wheel: $(READY)
	rm -rf dist build/wheel
	$(BIN)/python -m hatchling build
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	build/wheel/bin/elect --version
	build/wheel/bin/elect detect examples/payments.csv --label checked --quiet --top 3
	$(BIN)/python -m pytest -m wheel tests/test_wheel.py

# The main tests with the oldest libraries and with the newest, pandas 3 included (which the tables of KEEL keep out of .venv).
TESTED := tests/test_tables_read.py tests/test_tables_treatment.py tests/test_elect_detector.py tests/test_engine.py \
  tests/test_python_comforts.py tests/test_cli.py tests/test_road.py tests/test_drift.py tests/test_detectors.py \
  tests/test_saving.py tests/test_feedback.py tests/test_output_files.py tests/test_explain.py \
  tests/test_sturdy_tables.py tests/test_sturdy_python.py
versions:
	rm -rf build/oldest build/newest
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet -c tests/oldest.txt '.[train,excel,cluster]' combo hypothesis pandas pytest
	build/oldest/bin/python -m pytest $(TESTED)
	$(PYTHON) -m venv build/newest
	build/newest/bin/python -m pip install --quiet '.[train,excel,cluster]' combo hypothesis 'pandas>=3' pytest
	build/newest/bin/python -m pytest $(TESTED)

# Both need the paper's datasets: ELECT_DATA_HOME names the folder that holds wild.json.
# The texts of the history are embedded by a language model, whose libraries are gigabytes: installed here only.
database: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[texts]'
	$(BIN)/elect corpus build/corpus
	$(BIN)/elect corpus build/texts --kinds texts
	$(BIN)/elect train --alone "$(ELECT_DATA_HOME)/wild.json" "$(ELECT_DATA_HOME)/more.json" build/corpus/corpus.json \
	  build/texts/corpus.json -o src/elect/history/data/shipped.elect --work build/work
	$(BIN)/python benchmarks/row_scorer.py build/rows src/elect/history/data/shipped.elect --corpus build/corpus/corpus.json \
	  --corpus build/texts/corpus.json --union benchmarks/results/union.json

results: $(READY)
	$(BIN)/python -m benchmarks.results_page union --corpus build/corpus/corpus.json --corpus build/texts/corpus.json \
	  --work build/work > benchmarks/results/union.json
	$(BIN)/python -m benchmarks.results_page page docs --work build/work --union benchmarks/results/union.json

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
