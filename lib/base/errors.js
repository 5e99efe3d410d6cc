'use strict'
// @ts-check

// Every error of flakeforge is made here, with a stable `code` and a message that names the value, the bound and what
// to do. Codes never change their meaning; messages may. There is a file for each subject.

/** @typedef {import('./errors/generators.js').Problem} Problem */

module.exports = {
  ...require('./errors/values.js'),
  ...require('./errors/options.js'),
  ...require('./errors/generators.js'),
  ...require('./errors/stores.js'),
  ...require('./errors/counters.js'),
  ...require('./errors/leases.js'),
  ...require('./errors/remote.js'),
}
