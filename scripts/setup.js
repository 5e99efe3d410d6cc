'use strict'

// The preparations for `npm start`, `npm test` and `npm run bench`, in a fresh clone as well: the locked development
// packages, the files for browsers, and the addon built from the present source. It does nothing twice. Old versions of
// Node.js must be able to read this file, like requirements.js.

const { install, run } = require('./install.js')
const { MissingRequirement, checkNode, checkRust } = require('./requirements.js')

function setUp() {
  checkNode()
  const { isBuilt } = require('./built.js') // not earlier, because it needs a new enough Node.js
  const mustBuild = !isBuilt()
  if (mustBuild) checkRust() // before npm, so that a missing Rust is reported at once
  return install() && (!mustBuild || run('npm run --silent build')) && run('node scripts/dist.js')
}

try {
  if (!setUp()) process.exitCode = 1
} catch (error) {
  if (!(error instanceof MissingRequirement)) throw error
  console.error(error.message)
  process.exitCode = 1
}
