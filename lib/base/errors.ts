// Every error of flakeforge is made here, with a stable `code` and a message that names the value, the bound and what to do.
// Codes never change their meaning; messages may. Each subject has its own file.

import type { Problem } from './errors/sources.ts'

export * from './errors/counters.ts'
export { FlakeError } from './errors/flake-error.ts'
export { forgetSecret, keepSecret, keepSecretsOf, said, warn } from './errors/foreign.ts'
export * from './errors/generators.ts'
export * from './errors/leases.ts'
export * from './errors/options.ts'
export * from './errors/quorum.ts'
export * from './errors/remote.ts'
export * from './errors/sources.ts'
export * from './errors/stores.ts'
export * from './errors/values.ts'

export type { Problem }
