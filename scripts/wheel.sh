#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh [ARCHIVE]: packs the archive of scripts/static.sh as a wheel beside it, and installs that into an environment of
# its own to see that it works. Pip has no links: the program is there once, and a script for each command.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
need_packages python3 python3-venv
archive=${1:-}
if [ -z "$archive" ]; then
  machine=$(uname -m)
  ls build/dist/smd-tools-*-linux-"$machine".tar.gz >/dev/null 2>&1 || sh scripts/static.sh
  archive=$(ls build/dist/smd-tools-*-linux-"$machine".tar.gz)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=$(python3 - "$archive" "$(dirname "$archive")" <<'END'
import base64, hashlib, os, re, sys, tarfile, zipfile

archive, folder = sys.argv[1:]
version, machine = re.fullmatch(r"smd-tools-(.+)-linux-(.+)\.tar\.gz", os.path.basename(archive)).groups()
tags = [f"py3-none-{system}_{machine}" for system in ("manylinux2014", "musllinux_1_1")]
path = os.path.join(folder, f"smd_tools-{version}-py3-none-manylinux2014_{machine}.musllinux_1_1_{machine}.whl")
script = """#!/bin/sh
here=$0
[ ! -L "$here" ] || here=$(readlink -f "$here")
exec "${here%/*}/../libexec/smd-tools/smd-tools" "${0##*/}" "$@"
"""
metadata = f"""Metadata-Version: 2.1
Name: smd-tools
Version: {version}
Summary: Look into training runs from the shell: logs, checkpoints, tensors, and whether training is healthy
License: Apache-2.0
Description-Content-Type: text/plain

The commands smd-ls, smd-tensor, smd-reduce, smd-rule, smd-wait, smd-diff, smd-report, smd-runs and smd-save, as one static
program. They need no Python.
"""
records = []


def add(wheel, name, data, mode):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data, compresslevel=9)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    records.append(f"{name},sha256={digest},{len(data)}\n")


with tarfile.open(archive) as tar, zipfile.ZipFile(path, "w") as wheel:
    data = f"smd_tools-{version}.data"
    info = f"smd_tools-{version}.dist-info"
    for member in tar:
        name = member.name.partition("/")[2]
        if name.startswith("bin/"):
            add(wheel, f"{data}/scripts/{name[4:]}", script.encode(), 0o755)
        if member.isfile() and not name.startswith("bin/"):
            add(wheel, f"{data}/data/{name}", tar.extractfile(member).read(), 0o644)
        elif member.isfile():
            add(wheel, f"{data}/data/libexec/smd-tools/smd-tools", tar.extractfile(member).read(), 0o755)
    add(wheel, f"{info}/METADATA", metadata.encode(), 0o644)
    add(wheel, f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: libsmd\nRoot-Is-Purelib: false\n" +
                                 "".join(f"Tag: {tag}\n" for tag in tags)).encode(), 0o644)
    records.append(f"{info}/RECORD,,\n")
    wheel.writestr(f"{info}/RECORD", "".join(records))
print(path)
END
)
case $wheel in
  *"_$(uname -m).whl") ;;
  *) ls -l "$wheel" && exit 0 ;; # of another machine
esac
python3 -m venv "$work/environment"
"$work/environment/bin/pip" -q install --no-index --disable-pip-version-check "$wheel"
for command in "$work"/environment/bin/smd-*; do
  "$command" --version >/dev/null
done
[ "$(find "$work"/environment/bin -name 'smd-*' | wc -l)" -eq 9 ]
found=$("$work/environment/bin/smd-ls" tests/fixtures/tb-logs/sick | head -n 1)
[ "$found" = block.0.bias ]
ls -l "$wheel"
