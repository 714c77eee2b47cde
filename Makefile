# Works with GNU make 3.81 (macOS) and later. `make` alone lists the targets.

BIN := .venv/bin
# How many tests run at once: some wait more than they work, so more than the smallest machine has cores.
JOBS := 8
# Keep compiled files even where the shell forbids it: without them, each of these processes compiles all tests again.
export PYTHONDONTWRITEBYTECODE :=
.DEFAULT_GOAL := help
.PHONY: help setup dev needs run test acceptance check lint types layers page docs dist generated format bench screenshots soak lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## Make .venv, after which .venv/bin/toolcrib works
	@scripts/setup.sh runtime

page: setup ## Build the page again where its sources are newer (as setup does)
	@$(BIN)/python scripts/build_page.py

docs: setup ## Build the documentation's site again where its sources are newer (as setup does)
	@$(BIN)/python scripts/build_docs.py

run: setup ## Start the host and open its page (toolcrib up)
	@$(BIN)/toolcrib up

dist: dev page docs ## Build the wheel and the source archive into dist/, with their checksums
	@$(BIN)/python scripts/dist.py

test: lint ## Every test that needs only Python (ARGS=--changed or ARGS="-k name" for a part)
	@$(BIN)/python -m pytest --jobs $(JOBS) $(ARGS)

# Those marked `quiet` come last, one at a time: the conformance suite has deadlines of its own, which a busy machine would miss.
acceptance: dev needs page ## Every other test: the page, the desktop, databases, real packages, servers and clients (after make test)
	@$(BIN)/python scripts/lint_page.py
	@failed=0; run() { $(BIN)/python -m pytest "$$@" $(ARGS) || [ $$? -eq 5 ] || failed=1; }; \
	run -m "acceptance and not quiet" --jobs 4; run -m "acceptance and quiet"; exit $$failed

check: dev lint types layers ## Lint, format, types and layers, without the tests

format: dev ## Write the code in the project's format
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python scripts/lint_page.py --fix

bench: dev ## Measure calls and start-up beside the alternatives
	@scripts/setup.sh bench .cache/bench
	@.cache/bench/bin/python -m benchmarks $(ARGS)

screenshots: dev needs page ## Pictures of every page, wide and narrow, light and dark, into .cache/screenshots
	@fc-list 2>/dev/null | grep -q "/Inter" || scripts/system-packages.sh fonts-inter fonts-jetbrains-mono || true
	@$(BIN)/python -m tests.web.screenshots $(ARGS)

soak: dev needs page ## The long tests: an hour of servers being killed, and slow growth (SOAK_MINUTES=5 for less)
	@$(BIN)/python -m pytest -m soak -s $(ARGS)

lock: dev ## Write the locks anew from what is asked for (UPGRADE=1 for newer pins)
	@UPGRADE=$(UPGRADE) scripts/lock.sh
	@$(BIN)/python -m tests.real_servers.install --lock
	@$(BIN)/python -m tests.conformance.install --lock
	@$(BIN)/python -m benchmarks.gateway.installing --lock
	@$(BIN)/python -m benchmarks.desktop.installing --lock
	@$(BIN)/python -m tests.gateway.clients.install --lock
	@$(BIN)/python scripts/page_lock.py

clean: ## Remove the environment, caches and build products
	@rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The parts of the targets above.

dev:
	@scripts/setup.sh dev

needs: dev
	@scripts/test-needs.sh

lint: dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: dev
	@$(BIN)/mypy

generated: dev ## Write what is made from the sources: the index and types of operations, the schema of workflows, docs/clients.md, docs/files.md
	@$(BIN)/python -m toolcrib.operations.generate
	@$(BIN)/python -m toolcrib.web.typescript frontend/src/api/types.ts
	@$(BIN)/python -m toolcrib.features.workflows.graph.json_schema
	@$(BIN)/python scripts/client_pages.py
	@$(BIN)/python scripts/file_index.py

layers: dev
	@$(BIN)/lint-imports --no-logo
