#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross-builds for 64-bit Arm in build/arm64 and runs, under qemu-user, what depends on the processor: the unit tests of
# checksums, wire formats, element types and kernels, and all recorded outputs of the commands. Nothing of arm64 is
# installed: the packages of the dependencies are unpacked in build/arm64-root.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages cmake doctest-dev g++-aarch64-linux-gnu ninja-build python3 qemu-user xz-utils
root=$PWD/build/arm64-root
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
fi

# Packages of another architecture, with all that they need, as if nothing was installed.
make_root() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/archives/partial" "$work/lists/partial" "$work/root"
  : >"$work/status"
  libraries=$(printf '%s\n' $build_packages | grep -E -- '-dev$')
  set -- -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::status="$work/status" \
    -o Dir::State::lists="$work/lists" -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= \
    -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=
  apt-get "$@" update
  # The list is split into words.
  # shellcheck disable=SC2086
  apt-get "$@" -o Debug::NoLocking=1 install -y --download-only --no-install-recommends $libraries doctest-dev libstdc++6
  for archive in "$work"/archives/*.deb; do
    dpkg-deb -x "$archive" "$work/root"
  done
  # Links to /lib would leave the folder.
  find "$work/root" -type l -lname '/*' | while read -r link; do
    target=$(readlink "$link")
    ln -snf "$(realpath -ms --relative-to="$(dirname "$link")" "$work/root$target")" "$link"
  done
  rm -rf "$root"
  mkdir -p build
  mv "$work/root" "$root"
}
[ -d "$root" ] || make_root

cmake --preset arm64
cmake --build --preset arm64
for test in base types wire reduce; do
  printf '\n== unit_%s\n' "$test"
  qemu-aarch64 -L "$root" "build/arm64/tests/unit/$test/unit_$test"
done

# The commands as scripts that run them under qemu: the kernel need not know how.
commands=build/arm64/commands
mkdir -p "$commands"
for command in build/arm64/bin/smd-*; do
  printf '#!/bin/sh\nexec qemu-aarch64 -0 "$0" -L %s %s "$@"\n' "$root" "$PWD/$command" >"$commands/${command##*/}"
  chmod +x "$commands/${command##*/}"
done
printf '\n== recorded outputs\n'
python3 tests/cli/run.py --tools "$PWD/$commands" --trials build/arm64/tests/fixtures/recorded-trials --timeout 300 \
  tests/cli/ls tests/cli/tensor tests/cli/reduce tests/cli/rule tests/cli/diff
