// Several members at once on a real etcd: races.mjs has the tests.

import { DATABASES } from './databases.mjs'
import { testRaces } from './races.mjs'
import { serve } from './rules.mjs'

testRaces(DATABASES.etcd, serve(DATABASES.etcd))
