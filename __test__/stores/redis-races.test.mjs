// Several members at once on a real Redis: races.mjs has the tests.

import { DATABASES } from './databases.mjs'
import { testRaces } from './races.mjs'
import { serve } from './rules.mjs'

testRaces(DATABASES.redis, serve(DATABASES.redis))
