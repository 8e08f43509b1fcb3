#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# arm64.sh [packages|root]: cross-builds for 64-bit Arm in build/arm64 and runs, under qemu-user, what depends on the
# processor: the unit tests of checksums, wire formats, element types and kernels, and recorded outputs of smd-reduce and
# smd-diff for which no other command is run. With `packages`: makes the Debian packages in build/arm64-package/packages
# instead. Nothing of arm64 is installed: the packages of the dependencies are unpacked in build/arm64-root; with `root`,
# that is all. Exits with 77 if such packages are unavailable.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
apt-get install -qq --simulate g++-aarch64-linux-gnu qemu-user >/dev/null 2>&1 || apt-get update -qq >/dev/null 2>&1 || true
if ! apt-get install -qq --simulate g++-aarch64-linux-gnu qemu-user >/dev/null 2>&1; then
  packages_say "skipped: the compiler for arm64 or qemu is unavailable as a package"
  exit 77
fi
# shellcheck disable=SC2086
need_packages $build_packages cmake doctest-dev g++-aarch64-linux-gnu ninja-build python3 qemu-user xz-utils
root=$PWD/build/arm64-root
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
fi

# Notes an unpacked package as installed, for dpkg-shlibdeps.
describe() {
  id=$(dpkg-deb -f "$1" Package)
  [ "$(dpkg-deb -f "$1" Multi-Arch)" != same ] || id=$id:arm64
  dpkg-deb -e "$1" "$temporary/control"
  for file in symbols shlibs; do
    [ ! -e "$temporary/control/$file" ] || mv "$temporary/control/$file" "$temporary/root/dpkg/info/$id.$file"
  done
  rm -r "$temporary/control"
  dpkg-deb --fsys-tarfile "$1" | tar -t | sed "s|^\.|$root|; s|/\$||" >"$temporary/root/dpkg/info/$id.list"
  { dpkg-deb -f "$1" && printf 'Status: install ok installed\n\n'; } >>"$temporary/root/dpkg/status"
}

# Packages of another architecture, with all that they need, as if nothing was installed.
make_root() {
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' EXIT
  mkdir -p "$temporary/archives/partial" "$temporary/lists/partial" "$temporary/root"
  : >"$temporary/status"
  libraries=$(printf '%s\n' $build_packages | grep -E -- '-dev$')
  set -- -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::status="$temporary/status" \
    -o Dir::State::lists="$temporary/lists" -o Dir::Cache::archives="$temporary/archives" -o Dir::Cache::pkgcache= \
    -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=
  # The list is split into words.
  # shellcheck disable=SC2086
  if ! { apt-get "$@" update && apt-get "$@" -o Debug::NoLocking=1 install -y --download-only --no-install-recommends \
    $libraries doctest-dev libstdc++6; } >/dev/null; then
    packages_say "skipped: packages of arm64 are unavailable"
    exit 77
  fi
  mkdir -p "$temporary/root/dpkg/info"
  echo 1 >"$temporary/root/dpkg/info/format"
  for archive in "$temporary"/archives/*.deb; do
    dpkg-deb -x "$archive" "$temporary/root"
    describe "$archive"
  done
  # Links to /lib would leave the folder.
  find "$temporary/root" -type l -lname '/*' | while read -r link; do
    target=$(readlink "$link")
    ln -snf "$(realpath -ms --relative-to="$(dirname "$link")" "$temporary/root$target")" "$link"
  done
  rm -rf "$root"
  mkdir -p build
  mv "$temporary/root" "$root"
}
[ -d "$root" ] || make_root
[ "${1:-}" != root ] || exit 0

if [ "${1:-}" = packages ]; then
  cmake --preset package -B build/arm64-package --toolchain "$PWD/cmake/aarch64-linux-gnu.cmake" -DSMD_ARM64_ROOT="$root" \
    -DCMAKE_INSTALL_LIBDIR=lib/aarch64-linux-gnu
  cmake --build build/arm64-package
  DPKG_ADMINDIR=$root/dpkg dpkg-architecture -aarm64 -c cpack --config build/arm64-package/CPackConfig.cmake -G DEB
  exit
fi

cmake --preset arm64
cmake --build --preset arm64
printf '%s\n' base types wire reduce | xargs -P "$(nproc)" -I{} sh -c '
  printf "\n== unit_%s\n" "$1" && qemu-aarch64 -L "$2" "build/arm64/tests/unit/$1/unit_$1"' sh {} "$root"

# The commands as scripts that run them under qemu: the kernel need not know how.
commands=build/arm64/commands
mkdir -p "$commands"
for command in build/arm64/bin/smd-*; do
  printf '#!/bin/sh\nexec qemu-aarch64 -0 "$0" -L %s %s "$@"\n' "$root" "$PWD/$command" >"$commands/${command##*/}"
  chmod +x "$commands/${command##*/}"
done
# qemu reserves memory as sanitizers do.
printf '\n== recorded outputs\n'
grep -LE 'smd-(ls|save|tensor)' tests/cli/reduce/*/cmd tests/cli/diff/*/cmd | xargs -n 1 dirname |
  xargs -P "$(nproc)" -n 7 python3 tests/cli/run.py --sanitized \
    --tools "$PWD/$commands" --trials build/arm64/tests/fixtures/recorded-trials --timeout 300
