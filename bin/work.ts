// What commands do with the addon. It is loaded when the first of them runs: reading IDs needs no addon.

export { run as create } from './work/create.ts'
export { run as destroy } from './work/destroy.ts'
export { run as newIds } from './work/new.ts'
export { run as restored } from './work/restored.ts'
export { run as schema } from './work/schema.ts'
export { run as slots } from './work/slots.ts'
