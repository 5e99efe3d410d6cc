'use strict'

// Parses the output of `llvm-objdump --macho --private-headers` and `llvm-nm -m` about a macOS library into facts to be
// checked. A missing fact is a failure, never success: the format may have changed.

/** One load command: its name, and the first value of each of its fields. */
function commandIn(block) {
  const fields = [...block.matchAll(/^\s*(\w+) (.+?)(?: \(offset \d+\))?\s*$/gm)].map(([, name, value]) => [
    name,
    value,
  ])
  return Object.fromEntries(fields.toReversed())
}

/**
 * `0000000000001540 (__TEXT,__text) external _name`, `(undefined) external _malloc (from libSystem)`. Not the local
 * ones.
 */
const SHARED = /^\s*(?:[0-9a-f]+ )?\((.+?)\) (?:\[.*?\] )?(?:weak )?external (_\S+)(?: \(from (\S+)\))?/

/**
 * @param {string} headers
 * @param {string} symbols
 */
function readMachO(headers, symbols) {
  const machine = headers.match(/^\s*MH_MAGIC_64\s+(\S+)/m)?.[1]
  const commands = headers
    .split(/^Load command \d+$/m)
    .slice(1)
    .map(commandIn)
  const version = commands.find(({ cmd }) => cmd === 'LC_BUILD_VERSION' || cmd === 'LC_VERSION_MIN_MACOSX')
  if (machine === undefined || version === undefined) throw new Error('llvm-objdump shows no version of macOS')
  const named = symbols.split('\n').flatMap((line) => {
    const [, section, name, from] = line.match(SHARED) ?? []
    return name === undefined ? [] : [{ name, isWanted: section === 'undefined', from }]
  })
  if (named.length === 0) throw new Error('llvm-nm lists no symbol')
  return {
    machine,
    macos: version.minos ?? version.version,
    isSigned: commands.some(({ cmd }) => cmd === 'LC_CODE_SIGNATURE'),
    needs: commands.filter(({ cmd }) => /^LC_LOAD_.*DYLIB$/.test(cmd)).map(({ name }) => name),
    exports: named.filter(({ isWanted }) => !isWanted).map(({ name }) => name),
    // No library is named for these: macOS takes them from any loaded image, which must be Node.js.
    lookedUp: named.filter(({ isWanted, from }) => isWanted && from === undefined).map(({ name }) => name),
  }
}

module.exports = { readMachO }
