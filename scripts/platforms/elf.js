'use strict'

// Parses the output of `readelf -W -h -d --dyn-syms FILE` about a Linux library, for any processor, into facts to be
// checked. A fact that it cannot find is a failure, never success: the format may have changed.

/** The one value of a line like `  Class:      ELF64`. */
function header(text, name) {
  const value = text.match(new RegExp(`^\\s*${name}:\\s+(.+?)\\s*$`, 'm'))?.[1]
  if (value === undefined) throw new Error(`readelf says nothing about '${name}'`)
  return value
}

/** `12: 0000 0 FUNC GLOBAL DEFAULT UND read@GLIBC_2.2.5 (2)`, whatever readelf adds in square brackets. */
const SYMBOL = /^\s*\d+:\s+[0-9a-f]+\s+\S+\s+\w+\s+(\w+)\s+\w+\s+(?:\[.*?\]\s+)?(\w+)\s+([^\s@]+)(?:@+(\S+))?/

/** The symbols that the library has or needs: not the local ones. */
function symbolsIn(text) {
  return text.split('\n').flatMap((line) => {
    const [, bind, section, name, version] = line.match(SYMBOL) ?? []
    if (name === undefined || bind === 'LOCAL') return []
    return [{ name, version, isWanted: section === 'UND', isWeak: bind === 'WEAK' }]
  })
}

/**
 * @param {string} text
 * @returns the kind of the library, the libraries that it needs, and its symbols
 */
function readElf(text) {
  const symbols = symbolsIn(text)
  if (symbols.length === 0) throw new Error('readelf lists no symbol')
  return {
    bits: header(text, 'Class'),
    data: header(text, 'Data'),
    machine: header(text, 'Machine'),
    needs: [...text.matchAll(/\(NEEDED\)\s+Shared library: \[(.+?)\]/g)].map(([, name]) => name),
    isKept: /\(FLAGS_1\).*\bNODELETE\b/.test(text),
    exports: symbols.filter(({ isWanted }) => !isWanted).map(({ name }) => name),
    wants: symbols.filter(({ isWanted }) => isWanted),
  }
}

/** 2.9 comes before 2.17, so versions are compared number by number. */
function compareVersions(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * The newest glibc that any of the symbols needs, and one that needs it. The linker stamps each function with the version
 * that introduced it; the highest stamp is the oldest glibc that the library loads with.
 */
function glibcOf({ wants }) {
  const stamped = wants.flatMap(({ name, version }) => {
    const number = version?.match(/^GLIBC_([\d.]+)$/)?.[1]
    return number ? [{ name, version: number }] : []
  })
  if (stamped.length === 0) return undefined
  return stamped.reduce((a, b) => (compareVersions(b.version, a.version) > 0 ? b : a))
}

module.exports = { compareVersions, glibcOf, readElf }
