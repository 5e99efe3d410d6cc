// From the options to a running service, and from a signal to its end. stdout gets one line, once it is ready; all other
// output goes to stderr.

import type { Entry } from './config/names.ts'
import { type Config, readConfig } from './config/read.ts'
import type { Values } from './config/sources.ts'
import { Log } from './http/log.ts'
import { keepTicksFast } from './http/ticks.ts'
import { isFolder } from './ids/stores.ts'
import { Service } from './service.ts'

export async function serve(given: Values, env: NodeJS.ProcessEnv) {
  keepTicksFast()
  const config = await readConfig(given, env)
  const log = new Log(config.log)
  // Formats warnings of flakeforge like ours: operators need not know of Node. The supervisor logs each outage itself; the
  // omitted warning is for programs, which listen to 'renewal-failed'.
  process.removeAllListeners('warning').on('warning', ({ message, code }: NodeJS.ErrnoException) => {
    if (code !== 'FLAKEFORGE_RENEWAL') log.warn(message)
  })
  const service = new Service(config, log)
  listenToSignals(service, log)
  await service.start()
  for (const text of warnings(config)) log.warn(text)
  const isReady = await service.ready(() => log.warn(`listens at ${service.url}, but has no IDs yet.`))
  if (isReady) process.stdout.write(`flakeforge-server is ready at ${service.url}\n`)
}

function listenToSignals(service: Service, log: Log) {
  let isEnding = false
  const end = async (signal: NodeJS.Signals) => {
    if (isEnding) process.exit(128 + (signal === 'SIGINT' ? 2 : 15)) // a second signal means that the operator does not want to wait
    isEnding = true
    try {
      await service.end()
      process.exit(0)
    } catch (error) {
      log.failure(error as Error)
      process.exit(1)
    }
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  if (process.platform !== 'win32') process.on('SIGHUP', () => service.reload())
}

/** Settings that are allowed, but probably not intended. */
function warnings({ host, listeners, cors, entries }: Config) {
  const { isLocal, tokens } = listeners.main
  const isAlone = entries.some(({ store }: Entry) => isFolder(store))
  return [
    ...(!isLocal && tokens === undefined
      ? [
          `${host} can be reached from other machines, and there are no tokens: any client there can take IDs. See --token-file.`,
        ]
      : []),
    ...(!isLocal && isAlone
      ? [
          'The slots are in a folder of this machine. A second server elsewhere would generate the same IDs. Before you start one, stop this one, and give both one store, such as --store redis://…',
        ]
      : []),
    ...(cors?.includes('*') ? ['cors is *: any web page that can reach this server can take IDs.'] : []),
  ]
}
