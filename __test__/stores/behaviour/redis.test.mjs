// All promises on redis: they are in the files next to this one; promises of redis alone are in ../redis-*.test.mjs.

import { REDIS } from '../databases/redis.mjs'
import { allPromises } from './promises.mjs'

allPromises(REDIS)
