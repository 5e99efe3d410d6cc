'use strict'

// The client packages of the user's project: flakeforge depends on none of them.

/** A package of the user's project, or undefined where it is not installed. */
function load(name) {
  let path
  try {
    // Package managers that keep packages apart show ours only what we depend on, but the project its own.
    path = require.resolve(name, { paths: [__dirname, process.cwd()] })
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return
    throw error
  }
  return require(path)
}

module.exports = { load }
