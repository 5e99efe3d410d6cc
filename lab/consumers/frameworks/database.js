// What a user of better-auth has: a database.

import { DatabaseSync } from 'node:sqlite'

export const database = new DatabaseSync(':memory:')
