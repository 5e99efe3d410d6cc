'use strict'
// @ts-check

// The platforms that have a binary, for messages: the one list of them in lib/. Only an error loads it. It must never
// decide which binary is loaded: addon.js does, by the name alone.

/**
 * What a system must be, and the packages for it, without `flakeforge-`.
 * @type {[system: string, targets: string[]][]}
 */
const SYSTEMS = [
  ['Linux with glibc 2.17 or newer', ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-arm-gnueabihf', 'linux-s390x-gnu']],
  ['Linux with glibc 2.27 or newer', ['linux-riscv64-gnu']],
  ['Linux with glibc 2.32 or newer', ['linux-ppc64-gnu']],
  ['Linux with musl', ['linux-x64-musl', 'linux-arm64-musl']],
  ['macOS', ['darwin-x64', 'darwin-arm64']],
  ['Windows', ['win32-x64-msvc', 'win32-arm64-msvc', 'win32-ia32-msvc']],
]

/** What Node does not say of these CPUs. */
const CPUS = /** @type {Record<string, string | undefined>} */ ({ arm: 'ARMv7', ppc64: 'ppc64le' })

/** @param {string} target */
function cpuOf(target) {
  const [, cpu] = target.split('-')
  return CPUS[cpu] ?? cpu
}

/** @param {string[]} words */
const either = (words) => (words.length === 1 ? words[0] : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`)

const TARGETS = SYSTEMS.flatMap(([, targets]) => targets)

/** All of them as one text. */
const TEXT = SYSTEMS.map(([system, targets]) => `${system} (${either(targets.map(cpuOf))})`).join(', ')

module.exports = { SYSTEMS, TARGETS, TEXT }
