// The database of a better-auth user, as docs/data/databases.md imports it.

import { DatabaseSync } from 'node:sqlite'

export const database = new DatabaseSync(':memory:')
