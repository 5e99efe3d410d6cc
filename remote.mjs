// The ES twin of remote.js.

import remote from './remote.js'

export const { RemoteFlakeId } = remote
