// One of our databases as if it were a user's, for flakeforge-check-store: `await openDatabase(NAME, ROW, url)` is the default
// export of a module for it. It loads no other database: 20 processes of each row load this file.

export async function openDatabase(name, row, url) {
  const { [name.toUpperCase()]: kind } = await import(`../stores/databases/${name}.mjs`)
  return () => open(kind, row, url)
}

async function open(kind, row, url) {
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
