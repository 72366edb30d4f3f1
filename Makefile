# `make run` starts a hub, `make test` runs the whole test suite; both set up everything they need first.
# Needed beforehand: Python 3.11 or newer, make and a C compiler. The rest comes from the package registry, each
# package checked against its hash in requirements.lock, into .venv.

BIN := .venv/bin
READY := .venv/.ready
SUITABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
# The environment holds the path of this checkout, and depends on the Python that made it: it is made anew when the
# checkout was moved or copied, or that Python was removed or upgraded.
USABLE := [ "$$(cat $(READY))" = "$(CURDIR)" ] && $(BIN)/python -P -c 'import click, pip'
ifneq ($(shell { $(USABLE); } >/dev/null 2>&1 && echo yes),yes)
.PHONY: $(READY)
endif
# A machine may forbid Python to keep what it compiles: each program that a check starts would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE
# Of the packages, what nothing of ours imports: tests, what is compiled to C, and readers of hundreds of languages.
UNUSED := /(mypyc?|pkg_resources|setuptools|tests?|lexers)/
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

PYTEST := $(BIN)/python -m pytest --workers auto

LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-annotate --no-header

.PHONY: help setup run test test-all soak simulate prove mutants check lint conformance e2e fuzz demo bench docs screenshots vendor \
    lock wheel package-check release-notes

help:
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/make \1	\2/p' Makefile

setup: $(READY) ## prepare .venv; the command is then .venv/bin/hubbub
	@echo 'ready: $(BIN)/hubbub'

run: $(READY) ## start a hub on 127.0.0.1:8420, or on PORT=…; where one runs already, show it
	@exec $(BIN)/hubbub serve $(if $(PORT),--port $(PORT))

test: $(READY) ## run the tests of every day; those of one folder with PART=store
	@$(PYTEST) $(if $(PART),tests/$(PART),-m 'not system')

test-all: $(READY) ## run all tests, also those that kill, fuzz, build wheels and walk through every view
	@$(PYTEST)

soak: $(READY) ## run TEST (or all) TIMES times in a chance order on 4 workers beside a busy process
	@$(BIN)/python -m tests.runner.soak $(or $(TIMES),20) $(TEST)

simulate: $(READY) ## let chance work on the core for a minute, or SEEDS=… seeds long, FIRST=… the first of them; see that its promises hold (POSTGRES=… on an empty database)
	@$(BIN)/python -m simulate.run $(if $(SEEDS),--seeds $(SEEDS)) $(if $(FIRST),--first $(FIRST)) $(if $(POSTGRES),--postgres $(POSTGRES))

prove: $(READY) ## have everything die, and check each promise: 5 minutes, or MINUTES=…, HOURS=…; AGENTS=200; SEED=… the same again
	@$(BIN)/hubbub prove --keep .prove $(if $(MINUTES),--minutes $(MINUTES)) $(if $(HOURS),--hours $(HOURS)) $(if $(AGENTS),--agents $(AGENTS)) $(if $(SEED),--seed $(SEED))

mutants: $(READY) ## see that the tests notice each wrong in mutants (ONLY=name some of them, WHOLE=1 with all tests)
	@$(BIN)/python -m mutants.run $(if $(WHOLE),--reach all) $(ONLY)

check: $(READY) ## everything that must pass: lint, types, layer rules, all tests, conformance, the package
	@$(BIN)/python -m tests.runner.check lint conformance package-check test-all

lint: $(READY) ## style, types and layer rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.types

conformance: $(READY) ## the official MCP conformance suite and clients of every age, where Node is present
	@tests/serve/mcp/conformance/run
	@tests/clients/run

e2e: $(READY) ## real clients, fetched from the npm registry, woken and held back on this machine, where npm is
	@$(BIN)/python -m pytest tests/clients/e2e

fuzz: $(READY) ## what bash calls in 20,000 made-up programs, compared with what the gate's reader saw
	@$(BIN)/python -m tests.shellgate.shell.fuzzer --programs 20000

demo: $(READY) ## a small team of agents does real work through a fresh hub, and the story is printed
	@$(BIN)/python -m demo.run --encore

bench: $(READY) ## measure the hub on this machine
	@for part in store postgres http hubs units events stdio starts race scopes search gate commands fleet dashboard hook meter; do $(BIN)/python -m bench.$$part || exit 1; done

docs: $(READY) ## write the pages of words, fields, tables, tokens and kept files anew, from the code
	@$(BIN)/python -m docs.words
	@$(BIN)/python -m docs.nouns
	@$(BIN)/python -m docs.tables
	@$(BIN)/python -m docs.tokens
	@$(BIN)/python -m docs.kept

screenshots: $(READY) ## take the pictures of the dashboard anew (needs Chromium)
	@$(BIN)/python -m docs.pictures

vendor: ## build what the dashboard uses of others anew (needs Node)
	@command -v npm >/dev/null || { echo 'make vendor needs Node with npm: https://nodejs.org/' >&2; exit 1; }
	@vendoring/build

lock: ## compile requirements.lock and those of the container from pyproject.toml (needs uv)
	@command -v uv >/dev/null || { echo 'make lock needs uv: https://docs.astral.sh/uv/' >&2; exit 1; }
	@$(LOCK) pyproject.toml --all-extras --group dev -o requirements.lock
	@$(LOCK) pyproject.toml --all-extras --constraint requirements.lock -o deploy/requirements.lock
	@$(LOCK) --group build --constraint requirements.lock -o deploy/build.lock

wheel: $(READY) ## build the wheel and the source distribution into dist
	@$(BIN)/python -m hatchling build

package-check: $(READY) ## build as a release does, install it with pipx, and run it (needs the network)
	@PYTHON=$(abspath $(BIN)/python) deploy/check

release-notes: $(READY) ## print what VERSION brings, from the changelog
	@$(BIN)/python -m docs.release_notes $(VERSION) $(SOURCE)

# The first Python on the path that will do; PYTHON names another. Some offer a version that is not installed, and
# some come without the parts that make environments: only running them tells.
$(READY): pyproject.toml requirements.lock
	@{ $(USABLE); } >/dev/null 2>&1 || { \
	    for python in "$$PYTHON" python3 python3.14 python3.13 python3.12 python3.11 python; do \
	        if "$$python" -c '$(SUITABLE)' 2>/dev/null; then \
	            echo "making .venv with $$("$$python" --version)"; \
	            "$$python" -m venv --clear .venv; exit; \
	        fi; \
	    done; \
	    echo 'hubbub needs Python 3.11 or newer with its venv module; name one with PYTHON=…' >&2; exit 1; }
	@echo 'installing what requirements.lock pins'
	@$(PIP) install --no-deps --no-compile --require-hashes -r requirements.lock
	@$(BIN)/python -m compileall -q -j 0 -x '$(UNUSED)' .venv/lib >/dev/null || true
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@echo '$(CURDIR)' >$(READY)
