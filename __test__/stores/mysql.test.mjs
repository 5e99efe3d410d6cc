// Groups and counters on a real MariaDB: rules.mjs and counters.mjs have the tests.

import { testCounters } from './counters.mjs'
import { DATABASES } from './databases.mjs'
import { serve, testRules } from './rules.mjs'

const served = serve(DATABASES.mysql)

testRules(DATABASES.mysql, served)
testCounters(DATABASES.mysql, served)
