// All promises on postgres: they are in the files next to this one; promises of postgres alone are in
// ../postgres-*.test.mjs.

import { POSTGRES } from '../databases/postgres.mjs'
import { allPromises } from './promises.mjs'

allPromises(POSTGRES)
