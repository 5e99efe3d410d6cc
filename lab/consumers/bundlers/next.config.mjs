// The configuration from docs/reference/bundling.md, plus the root of this project, because there is another package-lock.json
// above it.

import documented from './next.config.documented.mjs'

export default { ...documented, turbopack: { root: import.meta.dirname } }
