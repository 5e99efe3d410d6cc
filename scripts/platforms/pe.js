'use strict'

// Parses the output of `objdump -p FILE` about a Windows library into facts to be checked. A missing fact is a failure,
// never success: the format may have changed.

/** @param {string} text */
function readPe(text) {
  const format = text.match(/file format (\S+)/)?.[1]
  if (format === undefined || !text.includes('The Import Tables')) throw new Error('objdump shows no imports')
  const [, table] = text.split('[Ordinal/Name Pointer] Table')
  if (table === undefined) throw new Error('objdump shows no exports')
  const row = /^\s+\[\s*\d+\]\s+(?:\+base\[\s*\d+\]\s+)?(?:[0-9a-f]+\s+)?([A-Za-z_]\S*)$/gm
  return {
    format,
    needs: [...text.matchAll(/DLL Name: (\S+)/g)].map(([, name]) => name),
    exports: [...table.matchAll(row)].map(([, name]) => name),
  }
}

module.exports = { readPe }
