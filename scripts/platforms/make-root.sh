#!/usr/bin/env bash
# make-root.sh ROOT PACKAGES [MIRROR]: creates the build root, a Debian trixie with the packages that the builds and the
# runs need. Called by root.js under a lock and in a separate mount namespace, so that no mount outlives it. The root is
# either complete or missing: it is created next to its place, and renamed at the end.
set -euo pipefail
root=$1
packages=$2
mirror=${3:-}

if [ -e "$root" ]; then exit 0; fi # another one created it while this one waited for the lock

aside=$root.unfinished
rm -rf --one-file-system "$aside"
# Without Debian's keys on this machine, debootstrap would install what nobody has signed.
# shellcheck disable=SC2086 # no mirror is no argument: then debootstrap knows one
debootstrap --force-check-gpg --variant=minbase trixie "$aside" $mirror

# This machine's access to the mirror: proxies, certificates and the like. Its sources and its pinned packages are not
# copied.
cp -a /etc/apt/apt.conf.d/. "$aside/etc/apt/apt.conf.d/"
# Copied, not mounted: installed packages write a separate list of certificates, from those in /usr/local too.
mkdir -p "$aside/etc/ssl/certs" "$aside/usr/local/share/ca-certificates" "$aside/flakeforge" "$aside/cargo"
for file in /etc/apt/apt.conf /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
  if [ -e "$file" ]; then cp -L "$file" "$aside$file"; fi
done
if [ -d /usr/local/share/ca-certificates ]; then
  cp -LR /usr/local/share/ca-certificates/. "$aside/usr/local/share/ca-certificates/"
fi

mount -t proc proc "$aside/proc"
in_root() { chroot "$aside" env DEBIAN_FRONTEND=noninteractive "$@"; }
in_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
in_root apt-get install -qq -y --no-install-recommends $packages
in_root apt-get clean
umount "$aside/proc"
mv "$aside" "$root"
