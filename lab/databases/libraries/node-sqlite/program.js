// node:sqlite, which is part of Node.js: prepared statements, without promises. It accepts bigints. It returns numbers,
// and throws where one in a column does not fit, unless it is told to return bigints. Where a program only calls
// newId(), yours calls `toSigned(flake.next())`.

import { DatabaseSync } from 'node:sqlite'
import { programOf } from '../../sqlite.js'

function open({ url, newId }, idInJson, options) {
  const db = new DatabaseSync(url, options)

  function inTransaction(run) {
    db.exec('BEGIN')
    try {
      const result = run()
      db.exec('COMMIT')
      return result
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }

  return programOf({ db, inTransaction, newId, idInJson })
}

export const ways = {
  default: (context) => open(context, 'id', {}),
  exact: (context) => open(context, 'CAST(id AS TEXT)', { readBigInts: true }),
}
