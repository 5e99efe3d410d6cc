// All promises on postgres: they are in the files beside this one, and what is postgres's own in ../postgres-*.test.mjs.

import { POSTGRES } from '../databases/postgres.mjs'
import { allPromises } from './promises.mjs'

allPromises(POSTGRES)
