# One entry point for everything. `make help` lists the targets.
#
# Only Go, git and make are needed. What else a target can use (a C compiler for the race detector, Java for a real
# Kafka broker) is used if it is there; tests that need what is absent say "skipped: needs ...". Parts that the variable
# WGATE_REQUIRE lists (WGATE_REQUIRE=java) must be there: that is how .ci/run calls this file.

GO        ?= go
BIN       := bin/wgate
GO_GUESTS := $(patsubst %/go.mod,%,$(wildcard plugins/examples/*/go.mod))
WASM      := $(foreach d,$(GO_GUESTS),plugins/examples/$(notdir $(d)).wasm)
RUST_GUESTS := $(patsubst plugins/examples/%/Cargo.toml,%,$(wildcard plugins/examples/*/Cargo.toml))
RUST_CRATES := plugins/sdk-rust $(addprefix plugins/examples/,$(RUST_GUESTS))
MODULES   := . $(patsubst %/go.mod,%,$(wildcard plugins/sdk-go/go.mod)) $(GO_GUESTS)
LINT      := $(GO) tool -modfile=$(CURDIR)/tools/lint/go.mod golangci-lint
FUZZTIME  ?= 30s

# The race detector needs cgo and a C compiler. It covers the packages that have goroutines; the core has none, which
# internal/lint checks. Where plugins are compiled (host/wasm, cmd/wgate) it takes ten times as long, so those are left out.
RACE      := $(if $(shell command -v gcc || command -v clang),-race)
RACE_PKGS := ./host ./host/admin ./host/broker ./host/commit ./host/engine ./host/file ./host/kafka ./host/observe

.DEFAULT_GOAL := build
.PHONY: build guests demo test race check bench format lint fuzz clean help

build: ## build bin/wgate
	$(GO) build -o $(BIN) ./cmd/wgate

guests: build $(WASM) rust-guests ## build and pack the example plugins: plugins/examples/*.wasm

# go build has a cache of its own and knows better than make what is stale.
.PHONY: $(WASM)
$(WASM): plugins/examples/%.wasm: build
	cd plugins/examples/$* && GOOS=wasip1 GOARCH=wasm $(GO) build -buildmode=c-shared -trimpath -ldflags='-s -w' -o ../$*.wasm .
	$(BIN) plugin pack $@

# Rust guests are built where there is a Rust that can.
.PHONY: rust-guests
rust-guests: build
	@set -e; for g in $(RUST_GUESTS); do \
		if tools/rust-guest.sh plugins/examples/$$g $(CURDIR)/plugins/examples/$$g.wasm; then $(BIN) plugin pack plugins/examples/$$g.wasm; \
		else s=$$?; test $$s = 3 || exit $$s; case ",$(WGATE_REQUIRE)," in *,rust,*|*,all,*) exit 1;; esac; fi; done

demo: $(WASM) ## build everything and run the quickstart: topic in, plugin, windows, topic out
	$(BIN) quickstart

test: guests ## run all tests of all modules
	@set -e; for m in $(MODULES); do echo "== go test $$m"; (cd $$m && $(GO) test -timeout 20m ./...); done
	@set -e; if command -v cargo >/dev/null; then for c in $(RUST_CRATES); do echo "== cargo test $$c"; (cd $$c && cargo test --quiet --offline); done; \
	else echo "cargo test: skipped: needs Rust"; fi
ifneq ($(RACE),)
	@echo "== go test -race -short"
	$(GO) test $(RACE) -short -timeout 20m $(RACE_PKGS)
endif

check: format lint ## format, vet, lint and the short tests, in under three minutes
	@set -e; for m in $(MODULES); do (cd $$m && $(GO) vet ./... && $(GO) test -short ./...); done

# docs/benchmarks.md says what they measure, and how whole runs against a broker are measured.
BENCHTIME ?= 3x
bench: ## run the benchmarks of the hot parts
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) ./host/engine
	$(GO) test -run '^$$' -bench . ./codec ./windowing/gbkw

format: ## fail if a file is not formatted
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$out" ]; then \
		echo "not formatted, run gofmt -w:"; echo "$$out"; exit 1; fi

lint: ## run golangci-lint; its first build takes some minutes
	$(LINT) run ./...

# Every fuzz target of the root module, one after the other.
fuzz: ## run every fuzz target for FUZZTIME (default 30s)
	@set -e; grep -rln --include='*_test.go' '^func Fuzz' . | sort | while read f; do \
		grep -o '^func Fuzz[A-Za-z0-9_]*' $$f | sed 's/func //' | while read t; do \
			echo "== $$t ($$f)"; (cd $$(dirname $$f) && $(GO) test -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) .); \
		done; done

clean: ## remove what was built
	rm -rf bin plugins/examples/*.wasm

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12
