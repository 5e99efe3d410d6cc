'use strict'

// `flakeforge/remote`, for CommonJS: IDs that flakeforge-server makes. Browsers load it too, so nothing that it needs may use
// the addon or a module of Node. remote.mjs is its ES twin, remote.d.ts and remote.d.mts their types.

module.exports = require('./lib/remote/remote-flake-id.js')
