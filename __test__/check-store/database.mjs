// One of our databases as if it were a user's, for flakeforge-check-store: `openDatabase(NAME, ROW, url)` is the default
// export of a module for it.

import { DATABASES } from '../stores/databases.mjs'

export const openDatabase = (name, row, url) => async () => {
  const kind = DATABASES[name]
  const { client, end } = await kind.rows[row].connect({ url, urlOf: () => url })
  const records = kind.recordsOf(client)
  return {
    read: (...args) => records.read(...args),
    swap: (...args) => records.swap(...args),
    names: (...args) => records.names(...args),
    ...(kind.cannotListGroups ? {} : { groups: () => records.groups() }),
    close: async () => end(),
  }
}
