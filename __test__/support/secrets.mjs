// Addresses of every scheme with a password in them, most of them malformed in one way or another, and the search for
// it.

import util from 'node:util'

export const SECRET = 'S3cr3tPw'

const SCHEMES = [
  ...[
    'redis:',
    'rediss:',
    'redis-sentinel:',
    'rediss-cluster:',
    'valkey:',
    'postgres:',
    'postgresql:',
    'mysql:',
    'mariadb:',
    'etcd:',
    'etcds:',
  ],
  'http:',
  'https:',
  'file:',
  'rediz:',
  'REDIS:',
  'mongodb:',
  'redis+sentinel:',
  '',
]

const REST = [
  ...[
    '//u:PW@127.0.0.1:1/x',
    '//:PW@127.0.0.1:1',
    '//PW@127.0.0.1:1',
    '//u:PW@127.0.0.1:99999',
    '//u:PW@127.0.0.1:abc/0',
  ],
  ...['//u:PW@/x', '//u:PW%zz@127.0.0.1:1/x', '//u:PW@[::1:1/x', '//u:PW#x@127.0.0.1:1/x', '//u:PW?x@127.0.0.1:1/x'],
  ...[
    '//u:a/PW@127.0.0.1:1/x',
    '//u:PW @127.0.0.1:1/x',
    "//u:it's'PW@127.0.0.1:1/x",
    '/u:PW@127.0.0.1',
    'u:PW@127.0.0.1',
  ],
  ...[
    '//127.0.0.1:1/x?password=PW',
    '//127.0.0.1:1/x?user=u&password=PW&bogus=1',
    '//127.0.0.1:1/PW@x',
    '///u:PW@127.0.0.1',
  ],
  ...[
    '//u:PW@a,b:PW@c:1/x',
    '//u:PW@a:1,b:2/0#x',
    '//u:PW@127.0.0.1:1,b:99999#x',
    '//u:p@127.0.0.1:1,u:PW@127.0.0.1:2',
    '//u:PW@\n127.0.0.1:1/x',
    '//u:@@PW@127.0.0.1:1/x',
  ],
  ...[
    '//u:PW',
    '//u:PW/0',
    '//u:1/PW@127.0.0.1/0',
    '//127.0.0.1:1/x#PW',
    '//127.0.0.1:1,password=PW,ssl=true',
    '\\\\u:PW@h\\0',
  ],
  ...[
    '//u:p@PW@127.0.0.1:1/x',
    '//u:PW\u0000@127.0.0.1:1/x',
    '//%zz:PW@127.0.0.1:1',
    '//127.0.0.1:1/x?a=u@PW',
    '//u:PW@h:1/a{b',
  ],
  `//${'long'.repeat(12)}:PW@127.0.0.1:1/x`,
]

/** All of them. */
export const ADDRESSES = SCHEMES.flatMap((scheme) => REST.map((rest) => scheme + rest.replaceAll('PW', SECRET)))

/** Whether the secret, or the first half of it, is in the visible parts of these values. */
export function shows(...values) {
  const half = SECRET.slice(0, 5)
  return values.some((value) => textsOf(value).some((text) => text?.includes(half)))
}

/** A client's own error, which is the cause of ours, is unchanged. */
function textsOf(value) {
  if (!(value instanceof Error)) return [String(value), util.inspect(value, { depth: 6 }), JSON.stringify(value)]
  const own = { ...value, cause: undefined }
  const cause = value.cause?.code?.startsWith?.('ERR_FLAKE_') ? textsOf(value.cause) : []
  return [value.message, value.stack, util.inspect(own, { depth: 6 }), JSON.stringify(own), ...cause]
}
