# Everything sets itself up in .venv: a machine needs Python >= 3.11 and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint database results clean

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

# Both need the paper's datasets: ELECT_DATA_HOME names the folder that holds wild.json.
# The texts of the history are embedded by a language model, whose libraries are gigabytes: installed here only.
database: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[texts]'
	$(BIN)/elect corpus build/corpus
	$(BIN)/elect corpus build/texts --kinds texts
	$(BIN)/elect train "$(ELECT_DATA_HOME)/wild.json" "$(ELECT_DATA_HOME)/more.json" build/corpus/corpus.json \
	  build/texts/corpus.json -o src/elect/history/data/shipped.elect --work build/work
	$(BIN)/python benchmarks/row_scorer.py build/rows src/elect/history/data/shipped.elect --corpus build/corpus/corpus.json

results: $(READY)
	$(BIN)/python -m benchmarks.results_page union --corpus build/corpus/corpus.json --corpus build/texts/corpus.json \
	  --work build/work > benchmarks/results/union.json
	$(BIN)/python -m benchmarks.results_page page docs --work build/work --union benchmarks/results/union.json

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
