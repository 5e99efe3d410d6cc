'use strict'

// The purpose of a file: the first sentence of its head comment.

const { readFileSync } = require('node:fs')

const SIGN = /^(?:\/\/!?|--)(?: |$)/ // of JavaScript, Rust and SQL

/** The lines of the first comment without their markers; 'use strict' and the like may come before it. */
function openingComment(text) {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => SIGN.test(line) && !line.startsWith('// @'))
  if (start === -1) return []
  const length = lines.slice(start).findIndex((line) => !SIGN.test(line))
  return lines.slice(start, start + length).map((line) => line.replace(SIGN, ''))
}

/** @throws {Error} if the file does not say what it is for */
function purposeOf(path) {
  const lines = openingComment(readFileSync(path, 'utf8'))
  const end = lines.indexOf('')
  const paragraph = lines.slice(0, end === -1 ? undefined : end).join(' ')
  if (paragraph === '') throw new Error(`${path} does not open with a comment that says what it is for`)
  const [sentence] = /^(?:`[^`]*`|[^`])*?\.(?= |$)/.exec(paragraph) ?? [paragraph.replace(/:$/, '.')]
  return sentence.replaceAll(/\[(`[^`]*`)\](\([^)]*\))?/g, '$1')
}

module.exports = { purposeOf }
