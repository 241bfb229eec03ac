# `make` lists the recipes. Each takes at most ten minutes on two cores once its dependencies are built.

CARGO ?= cargo
FUZZ_SECONDS ?= 60
COST_SECONDS ?= 120
export CARGO FUZZ_SECONDS COST_SECONDS

.DEFAULT_GOAL := help
# Tests run in queues side by side. What computes comes first. What mostly waits follows; of the suites that measure what a
# load notices only one runs at a time. What no clock judges has the lowest priority: it takes the time that the others
# leave. What does nothing but wait stands beside them. What measures CPU time has the machine for itself, at the end.
queue-decisions := test-unit test-cases test-doc
queue-processes := test-tools test-hostile
COMPUTING := queue-decisions queue-processes
queue-loads := test-rotation test-leader test-rollouts test-migration test-rbac
queue-others := test-cluster test-install test-operators
queue-background := test-conversion test-fuzz
queue-waiting := test-idle
WAITING := queue-loads queue-others queue-background queue-waiting
MEASURING := test-cost
QUEUES := $(COMPUTING) $(WAITING)
PARTS := $(foreach queue,$(QUEUES),$($(queue))) $(MEASURING)
.PHONY: help run cluster test build-tests test-versions $(PARTS) $(QUEUES) lint format deny docs generate bench bench-bodies baseline clean

help: ## List the recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Show the webhooks at work on example manifests, then keep serving (Ctrl-C ends it)
	$(CARGO) run --quiet --package gateward-cli -- demo

cluster: ## A Kubernetes control plane with our chart in it, and a shell to try it (or COMMAND='kubectl get pods -A')
	testbed/build.sh
	$(CARGO) build --quiet --package gateward-cli
	$(CARGO) run --quiet --package cluster-tests --bin cluster -- "$$COMMAND"

# Everything is built with all features, so that no recipe builds anew what another has built. A folder or file of
# integration tests that is not named here runs with test-tools.
TEST := $(CARGO) test --workspace --all-features
LISTENER_TESTS := connection_limit converting_reviews deadline hostile http2 metrics_access neighbour observability self_check serving work_pool
RULE_TESTS := cases rulebook catalogue any_shape agreement commands convert kubeops_olm
IDLE_TESTS := idle
CONVERSION_TESTS := conversion
COST_TESTS := cost baseline
CLUSTER_TESTS := api_server behind_api_server cert_controller cert_manager chart dev fallback in_cluster kustomize new_operator node \
	operator shipping webhooks
INSTALL_TESTS := drift install releases
ROLLOUT_TESTS := load rollouts
ROTATION_TESTS := ca_rotation external cert_manager_mode
LEADER_TESTS := leader_loss
RBAC_TESTS := rbac
OPERATORS_TESTS := operators
MIGRATION_TESTS := migration
# The oldest one whose modules can be fetched, and the newest.
VERSIONS := 1.30.14 1.36.3
# The oldest and the newest that k8s-openapi has types of: programs choose.
TYPES := 1.33 1.37
IN_CLUSTER_TESTS := $(INSTALL_TESTS) $(ROLLOUT_TESTS) $(ROTATION_TESTS) $(LEADER_TESTS) $(RBAC_TESTS) \
	$(OPERATORS_TESTS) $(MIGRATION_TESTS)
PACKAGES := crates/* examples/* tests/* xtask
ALL_TESTS := $(sort $(basename $(notdir $(wildcard $(PACKAGES:%=%/tests/*.rs)))) \
	$(notdir $(patsubst %/main.rs,%,$(wildcard $(PACKAGES:%=%/tests/*/main.rs)))))
TOOL_TESTS := $(filter-out $(CONVERSION_TESTS) $(COST_TESTS) $(RULE_TESTS) $(LISTENER_TESTS) \
	$(IDLE_TESTS) $(CLUSTER_TESTS) $(IN_CLUSTER_TESTS),$(ALL_TESTS))
named = $(foreach name,$(filter $(1),$(ALL_TESTS)),--test $(name))

test: ## Run all tests; ends with those that were skipped
	$(MAKE) build-tests
	log=$$(mktemp) && trap 'rm -f "$$log"' EXIT; \
	{ $(MAKE) --jobs=$(words $(COMPUTING)) $(COMPUTING) && $(MAKE) --jobs=$(words $(WAITING)) $(WAITING) && $(MAKE) $(MEASURING); } 2>&1 | tee "$$log" && \
	{ grep -oE '(skipped: [a-z_]+: .* is absent|fuzz: skipped, .*)$$' "$$log" || echo 'no test was skipped'; }

build-tests:
	testbed/build.sh
	$(TEST) --no-run

# Lines of several queues would run into each other.
test $(QUEUES): SHELL := /bin/bash
test $(QUEUES): .SHELLFLAGS := -o pipefail -c
queue-background: PRIORITY := nice -n 19
$(QUEUES): queue-%:
	MAKEFLAGS= $(PRIORITY) $(MAKE) --no-print-directory $($@) 2>&1 | sed --unbuffered 's/^/$*: /'

test-unit: ## Tests beside the code
	$(TEST) --lib --bins

test-cases: ## The rule books' cases, the catalogue's examples, and that all ways in agree
	$(TEST) $(call named,$(RULE_TESTS))

test-conversion: ## Conversion: cases, staged edits, manifests, and 10,000 arbitrary objects for each promise
	$(CARGO) test --profile proofs --package dynamo-webhooks --test $(CONVERSION_TESTS)

test-cost: ## Memory and CPU of hostile bodies and of what the cost fuzzer finds in COST_SECONDS, and the baseline
	$(CARGO) test --profile proofs --package dynamo-webhooks $(call named,$(COST_TESTS))

test-tools: ## The core's promises, patches, YAML, schemas, CRDs, certificates, generated files
	$(TEST) $(call named,$(TOOL_TESTS))

test-hostile: ## The server against hostile, patient and ordinary clients
	$(TEST) $(call named,$(LISTENER_TESTS))

test-idle: ## A connection that rests for 100 seconds
	$(TEST) $(call named,$(IDLE_TESTS))

# With the tests of gateward-cli and of crontab cargo builds their binaries, which the others run.
IN_CLUSTER = export GATEWARD_TESTBED=$${GATEWARD_TESTBED:-$$(testbed/build.sh)} && test -n "$$GATEWARD_TESTBED" && $(TEST) --no-run $(call named,commands crontab $(1)) && $(TEST) $(call named,$(1))

test-cluster: ## CRDs, webhooks and conversion behind a real API server; builds one first, once, in about fifteen minutes
	$(call IN_CLUSTER,$(CLUSTER_TESTS))

test-install: ## The chart in a cluster: every kind, changed caBundles, other names, the way out
	$(call IN_CLUSTER,$(INSTALL_TESTS))

test-rollouts: ## Under load: upgrade, rollback, restart, a crash, an API server that restarts
	$(call IN_CLUSTER,$(ROLLOUT_TESTS))

test-rotation: ## Under load: certificates that are renewed, rotated and deleted
	$(call IN_CLUSTER,$(ROTATION_TESTS))

test-leader: ## Under load: the leader is lost before and after each step of a CA rotation
	$(call IN_CLUSTER,$(LEADER_TESTS))

test-rbac: ## That each verb of the roles is needed
	$(call IN_CLUSTER,$(RBAC_TESTS))

test-operators: ## An operator of one namespace beside one of the whole cluster: claims, crashes, partitions, hand-overs
	$(call IN_CLUSTER,$(OPERATORS_TESTS))

test-migration: ## Under load: from each layout of the Go operator to ours and back
	$(call IN_CLUSTER,$(MIGRATION_TESTS))

test-versions: $(TYPES:%=check-types-%) $(VERSIONS:%=test-version-%) ## With Kubernetes 1.30 and 1.36 instead of 1.34: test-cluster and test-install

check-types-%:
	K8S_OPENAPI_ENABLED_VERSION=$* $(CARGO) check --package gateward --features cli --target-dir $${CARGO_TARGET_DIR:-target}/types-$*

test-version-%:
	GATEWARD_TESTBED=$$(testbed/build.sh $*) && export GATEWARD_TESTBED && $(MAKE) test-cluster test-install

test-doc: ## The examples in the documentation
	$(TEST) --doc

test-fuzz: ## Each fuzz target for FUZZ_SECONDS
	fuzz/run.sh

lint: format deny docs ## Formatting, lints, licences, documentation
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	$(CARGO) clippy --package gateward --features cluster -- -D warnings

format:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check

deny:
	$(CARGO) deny --all-features check --hide-inclusion-graph bans licenses sources

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --all-features --no-deps

generate: ## Write what is generated: CRDs, parts of the chart, bundles of OLM, rule catalogue, command line reference
	$(CARGO) xtask generate crds
	$(CARGO) xtask generate chart
	$(CARGO) run --quiet --package gateward-cli -- rules --output markdown > docs/rules.md.new && mv docs/rules.md.new docs/rules.md
	$(CARGO) run --quiet --package gateward-cli -- bundle rules --output markdown > docs/bundle-rules.md.new && mv docs/bundle-rules.md.new docs/bundle-rules.md
	$(CARGO) run --quiet --package gateward-cli -- generate cli-reference > docs/cli.md.new && mv docs/cli.md.new docs/cli.md
	$(CARGO) run --quiet --package gateward-cli -- generate bundle --out deploy/olm --image ghcr.io/gateward/gateward:0.1.0 --package dynamo-operator-webhooks --display-name "Dynamo Operator webhooks" --provider Gateward --provider-url https://github.com/gateward/gateward --values deploy/olm/values.yaml --samples deploy/olm/samples
	$(CARGO) run --quiet --package olm-webhooktest -- generate bundle --out examples/olm-webhooktest/bundle --strict --image ghcr.io/gateward/olm-webhooktest:0.1.0 --package webhook-operator --display-name WebhookTest --provider Gateward --samples examples/olm-webhooktest/samples/valid.yaml --samples examples/olm-webhooktest/samples/valid-v1.yaml

# Go keeps what it has compiled under a key of its inputs, so this is quick but for the first time.
PEER := $(or $(GATEWARD_CACHE),$(HOME)/.cache/gateward)/controller-runtime-peer
bench: ## What the shipped program costs, beside a handler that does nothing and a peer in Go
	CGO_ENABLED=0 go build -C testbed/peers -buildvcs=false -trimpath -ldflags '-s -w' -o $(PEER) .
	$(CARGO) build --profile dist --package gateward-cli --package gateward-bench
	$${CARGO_TARGET_DIR:-target}/dist/in-process docs/performance.svg
	$${CARGO_TARGET_DIR:-target}/dist/gateward-bench $${CARGO_TARGET_DIR:-target}/dist/gateward $(PEER)

BODIES := $(or $(CARGO_TARGET_DIR),target)/costly
bench-bodies: ## What the shipped program takes for the bodies that take more than their share in the build of the tests
	rm -rf $(BODIES) && mkdir -p $(BODIES)
	COST_KEEP=$(abspath $(BODIES)) $(CARGO) test --profile proofs --package dynamo-webhooks --test cost
	$(CARGO) build --profile dist --package gateward-cli --package gateward-bench
	$${CARGO_TARGET_DIR:-target}/dist/gateward-bench $${CARGO_TARGET_DIR:-target}/dist/gateward $(BODIES)

baseline: ## Write anew what one review takes in allocations and instructions, which a test holds every change to
	WRITE_BASELINE=1 $(CARGO) test --profile proofs --package dynamo-webhooks --test baseline

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf fuzz/target
