// Several members at once on a real MariaDB: races.mjs has the tests.

import { DATABASES } from './databases.mjs'
import { serve } from './members.mjs'
import { testRaces } from './races.mjs'

testRaces(DATABASES.mysql, serve(DATABASES.mysql))
