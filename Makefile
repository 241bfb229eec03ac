# `make` lists the recipes. Each takes at most ten minutes on two cores once its dependencies are built.

CARGO ?= cargo
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help run test test-unit test-rules test-tools test-hostile test-idle test-doc test-fuzz lint format deny docs generate shape bench clean

help: ## List the recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Show the webhooks at work on example manifests, then keep serving (Ctrl-C ends it)
	$(CARGO) run --quiet --package gateward-cli -- demo

test: test-unit test-rules test-tools test-hostile test-idle test-doc test-fuzz ## Run all tests

test-unit: ## Tests beside the code
	$(CARGO) test --workspace --lib --bins

test-rules: ## The rule books' cases, the catalogue's examples, and that all ways in agree
	$(CARGO) test --package dynamo-webhooks --test '*'
	$(CARGO) test --package gateward-cli --test '*'

test-tools: ## The core's promises, patches, YAML, schemas, CRDs, certificates, generated files
	$(CARGO) test --package gateward-core --package gateward-lint --package gateward-certs --package gateward --package dynamo-api --package xtask --all-features --test '*'

test-hostile: ## The server against hostile, patient and ordinary clients
	$(CARGO) test --package gateward-server --all-features --test hostile --test serving --test watching --test http2

test-idle: ## A connection that rests for 100 seconds
	$(CARGO) test --package gateward-server --test idle

test-doc: ## The examples in the documentation
	$(CARGO) test --workspace --doc

test-fuzz: ## Each fuzz target for FUZZ_SECONDS
	FUZZ_SECONDS=$(FUZZ_SECONDS) fuzz/run.sh

lint: format deny docs ## Formatting, lints, licences, documentation
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings

format:
	$(CARGO) fmt --all --check

deny:
	$(CARGO) deny --all-features check bans licenses sources

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --all-features --no-deps

generate: ## Write what is generated: CRDs, rule catalogue, command line reference
	$(CARGO) xtask generate crds
	$(CARGO) run --quiet --package gateward-cli -- rules --output markdown > docs/rules.md.new && mv docs/rules.md.new docs/rules.md
	$(CARGO) run --quiet --package gateward-cli -- generate cli-reference > docs/cli.md.new && mv docs/cli.md.new docs/cli.md

shape: ## The figures of the tree: lengths, documentation, possible panics
	$(CARGO) xtask shape

bench: ## Latency, CPU, allocations and memory, beside a handler that does nothing
	$(CARGO) run --release --package gateward-bench

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf fuzz/target
