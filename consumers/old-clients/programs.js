'use strict'

// What a project tries with the client package that it has: `node programs.js NAME ADDRESS` prints for each try what came
// of it, as [name of the try, code, message].

const { join, postgresStore, redisStore } = require('flakeforge')

/** Clients as users make them, which nobody connects. */
const CLIENTS = {
  redis: { client: (redis) => redisStore(quiet(redis.createClient(1, '127.0.0.1'))) },
  ioredis: { client: (Redis) => redisStore(quiet(new Redis({ lazyConnect: true }))) },
  pg: {
    pool: ({ Pool }) => postgresStore(new Pool()),
    client: ({ Client }) => postgresStore(new Client()),
  },
  postgres: { sql: (postgres) => postgresStore(postgres('postgres://127.0.0.1:1/none')) },
}

/** Nobody listens there. */
const quiet = (client) => client.on('error', () => {})

async function outcome(name, call) {
  try {
    await call()
    return [name, 'taken', '']
  } catch ({ code, message }) {
    return [name, code, message]
  }
}

async function main(name, address) {
  const made = require(name)
  const outcomes = []
  for (const [kind, give] of Object.entries(CLIENTS[name])) outcomes.push(await outcome(kind, () => give(made)))
  outcomes.push(await outcome('address', () => join(address, { waitMs: 0 })))
  console.log(JSON.stringify(outcomes))
  process.exit() // a client may try to connect for ever
}

main(...process.argv.slice(2))
