'use strict'

// Small changes to what keeps IDs exact on their way into databases, JSON and public texts, each of which a test must
// notice. See mutants/index.js.

const ids = 'lib/codec/ids.js'
const json = 'lib/codec/json.js'
const seal = 'lib/layout/seal.js'
const uuid = 'lib/codec/uuid.js'
const columns = 'bin/parts/columns.js'

module.exports = [
  {
    name: 'a number that may have lost digits is an ID',
    file: ids,
    from: 'if (Number.isSafeInteger(id) && id >= 0)',
    to: 'if (Number.isInteger(id) && id >= 0)',
    tests: ['layout/ids'],
  },
  {
    name: 'a negative number is an ID',
    file: ids,
    from: 'if (Number.isSafeInteger(id) && id >= 0)',
    to: 'if (Number.isSafeInteger(id))',
    tests: ['layout/ids'],
  },
  {
    name: 'takeNumbers(3) gives bigints',
    file: 'lib/generator/flake-id.js',
    from: 'hot.fewAsFloats(count)',
    to: 'hot.fewAsNumbers(count)',
    tests: ['generator/numbers'],
  },
  {
    name: 'a toJSON that makes numbers of bigints comes before the replacer',
    file: json,
    from: "return typeof held === 'bigint' ? String(held) : value",
    to: 'return value',
    tests: ['layout/json'],
  },
  {
    name: 'the reviver takes a number that has lost digits',
    file: json,
    from: 'if (Number.isSafeInteger(value)) return BigInt(value)',
    to: 'if (Number.isInteger(value)) return BigInt(value)',
    tests: ['layout/json'],
  },
  {
    name: 'the reviver takes what no 64 bits hold',
    file: json,
    from: 'if (id < MIN_I64 || id > MAX_U64)',
    to: 'if (id < MIN_I64)',
    tests: ['layout/json'],
  },
  {
    name: 'IDs in an array stay text',
    file: json,
    from: 'return value.map((element) => revive(key, element))',
    to: 'return value',
    tests: ['layout/json'],
  },
  {
    name: 'an ID of another layout becomes a UUID of this one',
    file: uuid,
    from: 'if (!facts.packing.unpack(id)) throw errors().idError(given, OF_LAYOUT, facts.name)\n',
    to: '',
    tests: ['layout/uuid'],
  },
  {
    name: 'a range across 2^63 finds nothing in a signed column',
    file: columns,
    from: 'return low <= high ?',
    to: 'return low !== undefined ?',
    tests: ['command/at-columns'],
  },
  {
    name: 'decimal text that gets a digit more is missed',
    file: columns,
    from: 'if (short === long)',
    to: 'if (short <= long)',
    tests: ['command/at-columns'],
  },
  {
    name: 'a key of any length makes a seal',
    file: seal,
    from: 'if (KEY_BYTES.includes(bytes.length)) return bytes',
    to: 'if (bytes.length > 0) return bytes',
    tests: ['layout/seal'],
  },
  {
    name: 'half of a surrogate pair is the tweak of another text',
    file: seal,
    from: 'if (/\\p{Cs}/u.test(text))',
    to: 'if (text === undefined)',
    tests: ['layout/seal'],
  },
  {
    name: "sealing a batch changes the caller's array",
    file: seal,
    from: 'const numbers = new BigUint64Array(ids)',
    to: 'const numbers = ids',
    tests: ['layout/seal'],
  },
]
