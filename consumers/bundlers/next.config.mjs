// What docs/bundling.md says, and where this project begins: there is another package-lock.json above it.

import documented from './next.config.documented.mjs'

export default { ...documented, turbopack: { root: import.meta.dirname } }
