// Finds packages of the user's project at run time, as Node does, from every place that belongs to the project. It must
// never use `require` itself, because bundlers change it, or rely on `__filename`, which ES modules do not have.

const { isAbsolute, join } = process.getBuiltinModule('node:path')

/** This file, which may be a bundle; the program that was started; and the current folder. */
export function starts() {
  const here = import.meta.filename ?? ''
  const program = process.argv[1] ?? ''
  return [here, program, join(process.cwd(), 'index.js')].filter(isAbsolute)
}

/** The path that `name` resolves to in the file `start`, or undefined. */
function resolve(start: string, name: string) {
  try {
    return process.getBuiltinModule('node:module').createRequire(start).resolve(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
  }
}

/** The same for the flakeforge that the file `start` sees. */
function resolveFromFlakeforge(start: string, name: string) {
  const flakeforge = resolve(start, 'flakeforge')
  return flakeforge && resolve(flakeforge, name)
}

/**
 * The path of a package, or undefined if it is not installed. With package managers that keep packages apart (pnpm,
 * Yarn PnP) the project finds only what it names itself, and flakeforge finds only its own addon. So we look from both.
 */
export function find(name: string) {
  for (const start of starts()) {
    const path = resolve(start, name) ?? resolveFromFlakeforge(start, name)
    if (path !== undefined) return path
  }
}
