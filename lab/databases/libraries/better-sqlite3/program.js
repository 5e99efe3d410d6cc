// better-sqlite3: prepared statements, without promises. It accepts bigints, but returns numbers unless it is told
// otherwise. Where a program only calls newId(), yours calls `toSigned(flake.next())`.

import Database from 'better-sqlite3'
import { programOf } from '../../sqlite.js'

function open({ url, newId }, idInJson, prepareDatabase = () => {}) {
  const db = new Database(url)
  prepareDatabase(db)
  db.pragma('journal_mode = WAL')
  return programOf({ db, inTransaction: (run) => db.transaction(run)(), newId, idInJson })
}

export const ways = {
  default: (context) => open(context, 'id'),
  exact: (context) => open(context, 'CAST(id AS TEXT)', (db) => db.defaultSafeIntegers()),
}
