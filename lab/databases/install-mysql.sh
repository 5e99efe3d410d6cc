#!/usr/bin/env bash
# MySQL for `npm run databases:stores -- mysql`, in target/mysql: Debian's, from unstable, since no stable Debian has it. It gets
# its own C library and all others, so nothing on the machine changes. Prints the program that starts it. Needs Debian or
# Ubuntu on x64.
set -euo pipefail
cd "$(dirname "$0")/../.."
home=$PWD/target/mysql
program=$home/mysqld
if [ -x "$program" ]; then echo "$program" && exit; fi

keys=/usr/share/keyrings/debian-archive-keyring.gpg
if [ ! -e "$keys" ]; then echo "MySQL comes from Debian: apt-get install debian-archive-keyring" >&2 && exit 1; fi
rm -rf "$home"
mkdir -p "$home"/{lists/partial,cache/archives/partial,sources,packages,root}
cat >"$home/sources/unstable.sources" <<END
Types: deb
URIs: http://deb.debian.org/debian
Suites: unstable
Components: main
Architectures: amd64
Signed-By: $keys
END
cat >"$home/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$home/sources";
Dir::State::lists "$home/lists";
Dir::State::status "/dev/null";
Dir::Cache "$home/cache";
APT::Sandbox::User "root";
END
export APT_CONFIG=$home/apt.conf
{
  apt-get update --quiet
  # Its programs in Perl are not used.
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances mysql-server-core |
    grep '^[a-z]' | grep --invert-match '^perl' | sort --unique >"$home/names"
  (cd "$home/packages" && xargs --arg-file "$home/names" apt-get download --quiet)
  for package in "$home"/packages/*.deb; do dpkg --extract "$package" "$home/root"; done
} >&2
root=$home/root/usr
cat >"$program.unfinished" <<END
#!/bin/sh
exec $root/lib64/ld-linux-x86-64.so.2 --library-path $root/lib/x86_64-linux-gnu:$root/lib/mysql/private $root/sbin/mysqld "\$@" \\
  --basedir=$root --lc-messages-dir=$root/share/mysql --character-sets-dir=$root/share/mysql/charsets --plugin-dir=$root/lib/mysql/plugin
END
chmod +x "$program.unfinished"
mv "$program.unfinished" "$program"
"$program" --version >&2
echo "$program"
