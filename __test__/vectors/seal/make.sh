#!/usr/bin/env bash
# __test__/vectors/seal/make.sh: writes ../seal.json with Bouncy Castle's FF1. Needs Java 17 or newer, and Maven, which
# fetches Bouncy Castle into target/. The result is the same each time.
set -euo pipefail
cd "$(dirname "$0")/../../.."

version=1.82
jar=target/bcprov-jdk18on-$version.jar
if [ ! -f "$jar" ]; then
  mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="org.bouncycastle:bcprov-jdk18on:$version" -DoutputDirectory=target
fi
java -cp "$jar" __test__/vectors/seal/SealVectors.java "$version" >target/seal.json
mv target/seal.json __test__/vectors/seal.json
