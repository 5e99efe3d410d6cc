// Whether a file exists. A check that Node's or Deno's permissions refuse counts as not found: least privilege covers the
// program's own folders, and more places are checked.

const { existsSync } = process.getBuiltinModule('node:fs')

export function isThere(path: string) {
  try {
    return existsSync(path)
  } catch {
    return false
  }
}
