# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts. need_packages PACKAGE...: installs only those Debian packages that are missing; ends
# the script with a message if one is unavailable.

packages_say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

packages_missing() {
  for package in "$@"; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

packages_apt_get() {
  if [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive apt-get "$@"
  fi
}

need_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    packages_say "this is no Debian; going on with what is installed (docs/install.md and CONTRIBUTING.md list what is needed)"
    return 0
  fi
  packages_wanted=$(packages_missing "$@")
  if [ -z "$packages_wanted" ]; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    packages_say "missing packages, and no sudo to install them; as root: apt-get install $packages_wanted"
    exit 1
  fi
  packages_say "installing: $packages_wanted"
  # Package lists may be old, or absent as in a new root. Other sources that do not answer are no obstacle: only the
  # availability of the packages counts.
  packages_apt_get update -qq >/dev/null || packages_say "apt-get update failed; going on with the lists that are there"
  packages_absent=
  for package in $packages_wanted; do
    apt-get install -qq --simulate "$package" >/dev/null 2>&1 || packages_absent="$packages_absent $package"
  done
  if [ -n "$packages_absent" ]; then
    packages_say "packages are unavailable:$packages_absent; the package sources must offer Debian 12 or later"
    exit 1
  fi
  # The list is split into words.
  # shellcheck disable=SC2086
  if ! packages_apt_get install -qq -y --no-install-recommends $packages_wanted >/dev/null; then
    packages_say "apt-get could not install (see above): $packages_wanted"
    exit 1
  fi
}

# Puts the sources from which Debian's libsimdjson was built in build/simdjson, for a static program: the package has no
# archive. Lists of sources stay in a folder of their own. Fails if they are unavailable.
get_simdjson() {
  [ ! -e build/simdjson/src/simdjson.cpp ] || return 0
  packages_folder=$(mktemp -d)
  mkdir -p build "$packages_folder/lists/partial"
  packages_keys=/usr/share/keyrings/debian-archive-keyring.gpg
  apt-get indextargets --format "deb-src [signed-by=$packages_keys] \$(REPO_URI) \$(CODENAME) \$(COMPONENT)" \
    'Created-By: Packages' 'Origin: Debian' | sort -u >"$packages_folder/sources.list"
  if (
    cd "$packages_folder"
    apt_source() {
      apt-get -qq -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::lists="$PWD/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User= "$@"
    }
    apt_source update
    apt_source source "simdjson=$(dpkg-query -W -f='${source:Version}' libsimdjson-dev)"
  ) >/dev/null 2>"$packages_folder/log"; then
    rm -rf build/simdjson
    mv "$packages_folder"/simdjson-*/ build/simdjson
    rm -r "$packages_folder"
  else
    cat "$packages_folder/log" >&2
    rm -r "$packages_folder"
    return 1
  fi
}

# Clang's memory in large pages, which saves a quarter of its time.
clang_memory='GLIBC_TUNABLES=glibc.malloc.hugetlb=1 MALLOC_TOP_PAD_=67108864'

# Packages for building the library and the commands.
build_packages='cmake g++ ninja-build pkg-config libboost-filesystem-dev libcli11-dev
  libcurl4-openssl-dev libfmt-dev libhwy-dev libpugixml-dev libssl-dev
  libpcre2-dev libprotozero-dev libsimdjson-dev nlohmann-json3-dev zlib1g-dev'
# Further packages for tidy.sh.
tidy_packages='clang clang-tidy'
# Further packages for the tests.
test_packages='bash chromium clang clang-format doctest-dev dpkg-dev fish gnuplot-nox jq libxml2-utils lld mandoc miller munge openssl
  parallel perl pybind11-dev python3 python3-botocore python3-dev python3-jsonschema python3-numpy slurm-wlm strace valgrind
  xz-utils zsh'
