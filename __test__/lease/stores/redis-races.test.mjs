// Several members at once on a real Redis: store-races.mjs has the tests.

import { DATABASES } from './databases.mjs'
import { testRaces } from './store-races.mjs'
import { serve } from './store-rules.mjs'

testRaces(DATABASES.redis, serve(DATABASES.redis))
