'use strict'

// What an outdated Node.js runs first: one sentence instead of a SyntaxError or a missing function. So the files that users
// load have no syntax that Node.js 12 does not know, and load the others afterwards. Browsers have no `process`.

const { engines } = require('../package.json')

const IS_OUTDATED =
  'typeof process === "object" && process.versions && process.versions.node && typeof process.getBuiltinModule !== "function"'
const sentence = (name) => `${JSON.stringify(`${name} needs Node.js ${engines.node}, and this is `)} + process.version`

/** The first line of a file that programs load. */
const GUARD = `if (${IS_OUTDATED}) throw Object.assign(new Error(${sentence('flakeforge')}), { code: "ERR_FLAKE_LOAD" });\n`

/** The first line of a command. */
const guardOfCommand = (name) =>
  `if (${IS_OUTDATED}) { console.error(${sentence(`${name}: flakeforge`)}); process.exit(1); }\n`

module.exports = { GUARD, guardOfCommand }
