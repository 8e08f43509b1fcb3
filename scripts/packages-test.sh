#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# packages-test.sh [PACKAGES_DIR]: builds the Debian packages (or takes those in a folder), checks them with lintian,
# installs them into a minimal Debian 12, and uses them there. Needs root, for the minimal system.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
if [ "$(id -u)" -ne 0 ]; then
  packages_say "skipped: a bare Debian can only be made as root"
  exit 77
fi
# shellcheck disable=SC2086
need_packages $build_packages debootstrap dpkg-dev lintian pybind11-dev python3-dev

step() { printf '\n== %s\n' "$*"; }
fail() {
  packages_say "$*"
  exit 1
}

packages=${1:-}
if [ -z "$packages" ]; then
  step 'building the packages'
  cmake --preset package
  cmake --build --preset package
  cpack --preset package
  packages=build/package/packages
fi

step 'lintian'
lintian --fail-on error "$packages"/*.deb

step 'a bare Debian 12'
root=$(mktemp -d)
# Mounts that apt's tools made there must be unmounted before anything is removed.
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase bookworm "$root" >/dev/null
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "$@"; }

step 'install and use'
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends /packages/libsmd0_*.deb \
  /packages/libsmd-rules0_*.deb /packages/libsmd-hook0_*.deb /packages/smd-tools_*.deb' >/dev/null
examples=/usr/share/doc/smd-tools/examples
for command in "$root"/usr/bin/smd-*; do
  name=${command##*/}
  inside "$name" --version
  inside "$name" --help >/dev/null
  [ -s "$root/usr/share/man/man1/$name.1.gz" ] || fail "$name has no manual page"
  [ -s "$root/usr/share/bash-completion/completions/$name" ] || fail "$name has no completion"
done
steps=$(inside smd-ls "$examples/good-pytorch-digits" --summary --get steps)
[ "$steps" = 9 ] || fail "smd-ls finds $steps steps, not 9"
inside smd-tensor "$examples/good-pytorch-digits" -c losses -m train --spark
inside smd-reduce "$examples/good-pytorch-exploding" -s last -r nan -f table
status=0
inside smd-ls --check "$examples/bad-flipped-bit" >/dev/null 2>&1 || status=$?
[ "$status" = 4 ] || fail "a flipped bit gives status $status, not 4"

step 'a program against libsmd-dev'
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends g++ pkg-config \
  /packages/libsmd-dev_*.deb /packages/python3-smd_*.deb' >/dev/null
cp tests/install/consumer/*.cpp "$root/root/"
inside sh -c "cd && g++ -std=c++20 main.cpp -o consumer \$(pkg-config --cflags --libs smd) &&
  ./consumer $examples/good-pytorch-digits &&
  g++ -std=c++20 rules.cpp -o rules \$(pkg-config --cflags --libs smd-rules) && ./rules &&
  g++ -std=c++20 hook.cpp -o hook \$(pkg-config --cflags --libs smd-hook) && ./hook saved && smd-ls saved"

step 'the module of Python'
inside python3 -c "import smd
trial = smd.open('$examples/good-pytorch-digits')
assert trial.steps('train') == [0, 5, 10, 15, 20, 25], trial.steps('train')
print(trial['DigitNet_fc.weight'].value().shape)"
printf 'from smdebug.rules import Rule\nclass Never(Rule):\n  def invoke_at_step(self, step): return False\n' \
  >"$root/root/never.py"
inside smd-rule "$examples/good-pytorch-digits" --python /root/never.py

step 'remove'
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get purge -qq -y smd-tools python3-smd libsmd-dev libsmd-rules0 libsmd-hook0 \
  libsmd0' >/dev/null
left=$(find "$root/usr" "$root/etc" -name '*smd-*' -o -name 'libsmd*' | head)
[ -z "$left" ] || fail "left behind: $left"
printf '\nthe packages are sound\n'
