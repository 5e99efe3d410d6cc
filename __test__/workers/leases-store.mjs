// The store of examples/kubernetes on the server of a test, for flakeforge-check-store.

import open from '../../examples/kubernetes/leases.mjs'

export default () =>
  open({ server: process.env.LEASES_SERVER, namespace: async () => 'default', token: async () => 'token' })
