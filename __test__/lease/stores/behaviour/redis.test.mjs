// All promises on redis: they are in the files beside this one, and what is redis's own in ../redis-*.test.mjs.

import { REDIS } from '../databases/redis.mjs'
import { allPromises } from './promises.mjs'

allPromises(REDIS)
