// Groups and counters on a real Redis: rules.mjs and counters.mjs have the tests.

import { testCounters } from './counters.mjs'
import { DATABASES } from './databases.mjs'
import { serve, testRules } from './rules.mjs'

const { redis } = DATABASES
const served = serve(redis)

testRules(redis, served)
testCounters(redis, served)
