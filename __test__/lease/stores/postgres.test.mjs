// Groups and counters on a real PostgreSQL: store-rules.mjs and store-counters.mjs have the tests.

import { DATABASES } from './databases.mjs'
import { testCounters } from './store-counters.mjs'
import { serve, testRules } from './store-rules.mjs'

const served = serve(DATABASES.postgres)

testRules(DATABASES.postgres, served)
testCounters(DATABASES.postgres, served)
