// The ES twin of remote.d.ts, for remote.mjs.

export { RemoteFailure, RemoteFlakeId, RemoteOptions, RemoteStats } from './types/remote.js'
