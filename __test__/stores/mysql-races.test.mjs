// Several members at once on a real MariaDB: races.mjs has the tests.

import { DATABASES } from './databases.mjs'
import { testRaces } from './races.mjs'
import { serve } from './rules.mjs'

testRaces(DATABASES.mysql, serve(DATABASES.mysql))
