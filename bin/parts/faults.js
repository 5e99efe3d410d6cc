'use strict'

// What is thrown, as one line on stderr and exit status 2. It must never hide a bug, whose stack is wanted.

const { say } = require('./output.js')

/** A fault of the caller's has a code of ours or of parseArgs; anything else is a bug. */
const isUsage = ({ isUsage, code = '' }) => isUsage || /^ERR_(?:FLAKE|PARSE_ARGS)_/.test(code)

/** What it says (of parseArgs only the first sentence), and the cause where that does not tell it: why a server could not be reached, for example. */
function sentenceOf({ message, cause, code = '' }) {
  const first = code.startsWith('ERR_PARSE_ARGS_') ? message.split('. ')[0] : message
  const why = cause?.message?.split('\n')[0]
  return why && !first.includes(why) ? `${first} (${why})` : first
}

function report(error) {
  if (!isUsage(error)) throw error
  say(sentenceOf(error))
  process.exitCode = 2
}

module.exports = { report }
