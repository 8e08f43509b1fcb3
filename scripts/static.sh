#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# static.sh [aarch64]: makes build/dist/smd-tools-VERSION-linux-x86_64.tar.gz: all commands as links of one static program
# that runs on every Linux of this processor, manual pages, completions and examples; and beside it …-relink.tar.gz, of
# which anybody links the program with another glibc. It has no S3 and loads no plug-ins. With `aarch64` the same is
# cross-built for 64-bit Arm. Exits with 77 if packages for that, or simdjson's sources, are unavailable.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
machine=${1:-$(uname -m)}
# shellcheck disable=SC2086
need_packages $build_packages dpkg-dev
get_simdjson || exit 77
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
fi
build=build/static-$machine
root=
compiler=g++
set -- --preset release -B "$build" -DSMD_SIMDJSON_SOURCE="$PWD/build/simdjson"
if [ "$machine" != "$(uname -m)" ]; then
  sh scripts/arm64.sh root
  root=$PWD/build/arm64-root
  compiler="$machine-linux-gnu-g++ --sysroot=$root"
  set -- "$@" --toolchain "$PWD/cmake/$machine-linux-gnu.cmake" -DSMD_ARM64_ROOT="$root"
fi
# Relocations take a part of the time to start; packed, less of it. The linker for Arm cannot do that.
[ "$machine" != x86_64 ] || set -- "$@" -DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,pack-relative-relocs
cmake "$@"
cmake --build "$build" --target smd-tools smd-tools.o

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=smd-tools-$version-linux-$machine
dist=$PWD/build/dist
documents=$dist/$name/share/doc/smd-tools
rm -rf "$dist/$name" "$dist/$name-relink"
cmake --install "$build" --component static --strip --prefix "$dist/$name"
mv "$dist/$name/bin/smd-tools" "$dist/$name/bin/smd-ls"
for command in "$build"/static/smd-*; do
  case ${command##*/} in
    smd-ls | smd-tools | smd-tools.o) ;;
    *) ln "$dist/$name/bin/smd-ls" "$dist/$name/bin/${command##*/}" ;;
  esac
done

# Licences, as the packages give them.
mkdir -p "$documents/licences"
cp LICENSE packaging/static/RELINK.md "$documents"
cp build/simdjson/LICENSE "$documents/licences/simdjson"
for package in libc6-dev libstdc++-12-dev libpcre2-dev zlib1g-dev libfmt-dev nlohmann-json3-dev libcli11-dev libhwy-dev \
  libprotozero-dev; do
  cp -L "$root/usr/share/doc/$package/copyright" "$documents/licences/${package%-dev}"
done
# Boost's file lists each author of all its libraries.
sed -n '/^ Boost Software License - Version 1.0/,/^ *DEALINGS IN THE SOFTWARE/p' \
  "$root"/usr/share/doc/libboost1.*-dev/copyright | sed '/DEALINGS IN THE SOFTWARE/q' >"$documents/licences/boost"
[ -s "$documents/licences/boost" ] || { packages_say "no licence of Boost found" && exit 1; }
if [ -z "$root" ]; then
  dpkg-query -W -f='${source:Package} ${source:Version}\n' libc6-dev libstdc++-12-dev libpcre2-dev zlib1g-dev \
    libboost-filesystem-dev libfmt-dev nlohmann-json3-dev libcli11-dev libhwy-dev libprotozero-dev libsimdjson-dev
else
  sed -n 's/^Package: //p; s/^Version: //p' "$root/dpkg/status" | paste -d' ' - -
fi | sort -u >"$documents/versions"

# Whoever links it anew gets a program that runs.
mkdir -p "$dist/$name-relink"
cp "$build/static/smd-tools.o" LICENSE packaging/static/RELINK.md "$documents/versions" "$dist/$name-relink"
# shellcheck disable=SC2086
$compiler -static-pie "$dist/$name-relink/smd-tools.o" -o "$build/smd-ls"
[ -n "$root" ] || "$build/smd-ls" --version >/dev/null

time=$(git log -1 --format=%ct 2>/dev/null || date +%s)
for folder in "$name" "$name-relink"; do
  tar -C "$dist" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -cf - "$folder" |
    gzip -9n >"$dist/$folder.tar.gz"
  ls -l "$dist/$folder.tar.gz"
done
