// Groups and counters on a real PostgreSQL: rules.mjs and counters.mjs have the tests.

import { testCounters } from './counters.mjs'
import { DATABASES } from './databases.mjs'
import { serve, testRules } from './rules.mjs'

const served = serve(DATABASES.postgres)

testRules(DATABASES.postgres, served)
testCounters(DATABASES.postgres, served)
