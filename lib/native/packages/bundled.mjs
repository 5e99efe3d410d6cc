// Bundlers load this in place of traced.cjs. They leave packages where they are, and search.ts finds those at run time. It is
// an ES module because a bundle may be one, where the code of a CommonJS module does not know the name of its file.

export const filename = import.meta.filename
export const loadAddon = () => undefined
export const loadClient = () => undefined
