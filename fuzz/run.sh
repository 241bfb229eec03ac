#!/usr/bin/env bash
# Runs each fuzz target, or those that are named, for FUZZ_SECONDS (60).
#
# Needs a nightly toolchain, for the coverage that libFuzzer steers by, and nothing else. Without one it says so and
# passes, but for CI=true. The seeds are the examples of the rule catalogue; they and what was found stand in fuzz/corpus, what failed in
# fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${FUZZ_SECONDS:-60}
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(review conversion yaml schema patch configuration certificates)

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: skipped, because there is no nightly toolchain (rustup toolchain install nightly --profile minimal)"
    [ "${CI:-}" != true ] || exit 1
    exit 0
fi

# The same passes that cargo-fuzz turns on. With --target they don't reach build scripts and macros.
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR=${FUZZ_TARGET_DIR:-$PWD/target}
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
cargo +nightly build --release --target "$host"
"$CARGO_TARGET_DIR/$host/release/seeds" corpus

mkdir -p artifacts
fuzz() {
    echo "fuzz: $1 for ${seconds}s"
    # An input may take ten seconds and two gigabytes, though it must not take nearly as much.
    "$programs/$1" "corpus/$1" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="artifacts/$1-" -print_final_stats=1 -print_funcs=0 -verbosity=0 2>&1 | sed "s/^/$1: /"
}
export programs="$CARGO_TARGET_DIR/$host/release" seconds
export -f fuzz
# One a core: each is a single thread.
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -o pipefail -c 'fuzz {}'
