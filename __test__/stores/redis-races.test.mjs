// Several members at once on a real Redis: races.mjs has the tests.

import { DATABASES } from './databases.mjs'
import { serve } from './members.mjs'
import { testRaces } from './races.mjs'

testRaces(DATABASES.redis, serve(DATABASES.redis))
