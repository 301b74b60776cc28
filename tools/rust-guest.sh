#!/bin/sh
# Builds the Rust plugin in folder $1 to the file $2, without a network where a wasm32 target is installed. It takes the
# first toolchain that has one: the cargo in PATH (its target is asked of rustup if there is rustup), else Debian's
# (packages cargo, rustc, libstd-rust-dev-wasm32). It ends with 3, saying so, where there is none.
set -eu
dir=$1 out=$2

# target prints the first target that rustc $1 has the standard library of.
target() {
	for t in wasm32-wasip1 wasm32-wasi wasm32-unknown-unknown; do
		lib=$("$1" --print target-libdir --target "$t" 2>/dev/null) || continue
		if ls "$lib"/libstd-*.rlib >/dev/null 2>&1; then
			echo "$t"
			return
		fi
	done
	return 1
}

rustc=${RUSTC:-rustc} cargo=${CARGO:-cargo}
if ! command -v "$rustc" >/dev/null || ! command -v "$cargo" >/dev/null || ! found=$(target "$rustc"); then
	if command -v rustup >/dev/null && timeout 120 rustup target add wasm32-wasip1 >/dev/null 2>&1 && found=$(target "$rustc"); then
		:
	elif [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && found=$(target /usr/bin/rustc); then
		rustc=/usr/bin/rustc cargo=/usr/bin/cargo
	else
		echo "skipped: needs Rust with a wasm32 target (rustup target add wasm32-wasip1, or Debian's libstd-rust-dev-wasm32)" >&2
		exit 3
	fi
fi

cd "$dir"
RUSTC=$rustc "$cargo" build --quiet --offline --release --lib --target "$found"
name=$(sed -n 's/^name = "\(.*\)"/\1/p' Cargo.toml | head -n 1 | tr - _)
cp "${CARGO_TARGET_DIR:-target}/$found/release/$name.wasm" "$out"
