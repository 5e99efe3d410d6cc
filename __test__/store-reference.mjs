// What the tests of every store share.

import { randomBytes } from 'node:crypto'

/** An owner token as the lease makes them: new for each acquisition. */
export const newOwner = () => randomBytes(16).toString('hex')
