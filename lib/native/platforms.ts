// The platforms that have a binary, for messages; `node scripts/platforms/lists.js` writes the list. addon.ts decides which
// binary to load, by name alone.

/** The description of a system, and the packages for it, without `@flakeforge/binding-`. */
export const SYSTEMS: [system: string, targets: string[]][] = [
  ['Linux with glibc 2.17 or newer', ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-arm-gnueabihf', 'linux-s390x-gnu']],
  ['Linux with glibc 2.27 or newer', ['linux-riscv64-gnu']],
  ['Linux with glibc 2.32 or newer', ['linux-ppc64-gnu']],
  ['Linux with musl', ['linux-x64-musl', 'linux-arm64-musl']],
  ['macOS', ['darwin-x64', 'darwin-arm64']],
  ['Windows', ['win32-x64-msvc', 'win32-arm64-msvc', 'win32-ia32-msvc']],
]

/** Node does not show these details of a CPU. */
const CPUS = { arm: 'ARMv7', ppc64: 'ppc64le' } as Record<string, string | undefined>

function cpuOf(target: string) {
  const [, cpu] = target.split('-')
  return CPUS[cpu] ?? cpu
}

const either = (words: string[]) =>
  words.length === 1 ? words[0] : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

export const hasBinary = (target: string) => SYSTEMS.some(([, targets]) => targets.includes(target))

/** All platforms as one text. */
export const listed = () => SYSTEMS.map(([system, targets]) => `${system} (${either(targets.map(cpuOf))})`).join(', ')
