// The table of all options of mysql2 and mariadb is complete. mysql-records.test.mjs shows that those of answers and
// sessions change nothing.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import test from 'ava'
import { declaredNames, MARIADB, MYSQL2, namesOfMariadb, namesOfMysql2 } from './mysql-options.mjs'

const require = createRequire(import.meta.url)
const MODULES = dirname(dirname(require.resolve('mysql2/package.json')))
const fileOf = (name, file) => readFile(join(MODULES, name, file), 'utf8')

const unknownTo = (table, names) => names.filter((name) => !Object.hasOwn(table, name))

test('the table knows every option of mysql2', async (t) => {
  const names = namesOfMysql2(await fileOf('mysql2', 'lib/connection_config.js'))
  t.true(names.length > 40)
  t.deepEqual(unknownTo(MYSQL2, names), [], 'say in mysql-options.mjs what they mean for the store')
  const declared = ['Connection', 'Pool'].map(async (file) => {
    const type = file === 'Pool' ? 'PoolOptions' : 'ConnectionOptions'
    return declaredNames(await fileOf('mysql2', `typings/mysql/lib/${file}.d.ts`), type)
  })
  t.deepEqual(unknownTo(MYSQL2, (await Promise.all(declared)).flat()), [])
})

test('the table knows every option of mariadb', async (t) => {
  for (const file of ['connection-options.js', 'pool-options.js']) {
    const names = namesOfMariadb(await fileOf('mariadb', `lib/config/${file}`))
    t.true(names.length > 4, file)
    t.deepEqual(unknownTo(MARIADB, names), [], 'say in mysql-options.mjs what they mean for the store')
  }
  const declarations = await fileOf('mariadb', 'types/share.d.ts')
  for (const type of ['UserConnectionConfig', 'ConnectionConfig', 'PoolConfig']) {
    t.deepEqual(unknownTo(MARIADB, declaredNames(declarations, type)), [], type)
  }
  const perStatement = ['timeout'] // we give none
  t.deepEqual(unknownTo(MARIADB, declaredNames(declarations, 'QueryConfig')), perStatement)
})

test('an additional option would be noticed', (t) => {
  t.deepEqual(namesOfMysql2('const validOptions = {\n  one: 1,\n  // text\n  two: 1,\n};'), ['one', 'two'])
  t.deepEqual(namesOfMariadb('this.a = opts.one || opts.one; opts.two'), ['one', 'two'])
  t.deepEqual(declaredNames('export interface T extends U {\n  /** x: y */\n  one?: 1;\n  two: 2;\n}', 'T'), [
    'one',
    'two',
  ])
})
