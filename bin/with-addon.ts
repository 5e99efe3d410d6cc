// The parts of commands that use the addon. Loaded when the first of them runs: reading IDs needs no addon.

export { run as create } from './with-addon/create.ts'
export { run as destroy } from './with-addon/destroy.ts'
export { run as newIds } from './with-addon/new.ts'
export { run as restored } from './with-addon/restored.ts'
export { run as schema } from './with-addon/schema.ts'
export { run as slots } from './with-addon/slots.ts'
