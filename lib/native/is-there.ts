// Whether a file is there. A look that Node's or Deno's permissions refuse has found nothing: least rights cover the program's
// own folders, and we look at more.

const { existsSync } = process.getBuiltinModule('node:fs')

export function isThere(path: string) {
  try {
    return existsSync(path)
  } catch {
    return false
  }
}
