// One of our databases as if it were a user's, for flakeforge-check-store: `openDatabase(NAME, CLIENT, url)` is the
// default export of a module for it.

import { DATABASES } from '../stores/databases.mjs'

export const openDatabase = (name, client, url) => async () => {
  const kind = DATABASES[name]
  const { client: opened, end } = await kind.clients[client]({ url, urlOf: () => url })
  const records = kind.recordsOf(opened)
  return {
    read: (...args) => records.read(...args),
    swap: (...args) => records.swap(...args),
    names: (...args) => records.names(...args),
    ...(kind.cannotListGroups ? {} : { groups: () => records.groups() }),
    close: async () => end(),
  }
}
