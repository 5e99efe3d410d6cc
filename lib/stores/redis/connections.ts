// Connections of our own client, one after the other: a connection that failed is replaced at the next call, which may lead
// to another server. A client that reconnected on its own would keep the process alive, and knows less about when to retry.

import { ScriptRunner } from './client.ts'
import type { Client, Commands } from './packages.ts'

const { EventEmitter } = process.getBuiltinModule('node:events')

/** A client of a package that is connecting or connected. */
export interface Connection {
  /** settles when it is connected, or failed to connect */
  ready: Promise<Commands>
  /** whether it may be used, now or once it is connected */
  isAlive(): boolean
  /** Closes it. Called once. */
  end(): unknown
}

/** Makes a connection, and reports its errors. */
export type Connect = (onError: (error: Error) => void) => Connection

/** The failure of a call whose connection was given up for another call's failure. */
class Dropped extends Error {}

async function finish(connection: Connection) {
  try {
    await connection.end()
  } catch {
    // it is closed
  }
}

type Current = Connection & { over: Promise<never>; stop: (error: Error) => void }

export class Connections extends EventEmitter implements Client {
  #connect
  #current: Current | undefined
  #isClosed = false

  constructor(connect: Connect) {
    super()
    this.#connect = connect
  }

  /**
   * Runs scripts on the present connection.
   * @param shown what is known without a connection
   * @param isFatal whether the connection must be replaced after this error
   */
  runner(shown: Pick<Commands, 'database' | 'address'>, isFatal: (error: unknown) => boolean) {
    const onFailure = (error: unknown) => {
      // The call of a connection that was given up says nothing about the next one, which others may have begun to use.
      if (!(error instanceof Dropped) && isFatal(error)) this.drop()
    }
    return new ScriptRunner(this, this.#commands(shown), { close: () => this.close(), onFailure })
  }

  #commands(shown: Pick<Commands, 'database' | 'address'>): Commands {
    return {
      ...shown,
      evalSha: (...args) => this.#run((commands) => commands.evalSha(...args)),
      evaluate: (...args) => this.#run((commands) => commands.evaluate(...args)),
      command: (...args) => this.#run((commands) => commands.command(...args)),
    }
  }

  /** Gives up the present connection: the next call makes another one. */
  drop() {
    const last = this.#current
    this.#current = undefined
    if (last === undefined) return
    last.stop(new Dropped('the connection was given up'))
    finish(last)
  }

  close() {
    this.#isClosed = true
    this.drop()
  }

  /** A client that ends may leave its calls pending. */
  async #run<Result>(call: (commands: Commands) => Promise<Result>) {
    if (this.#isClosed) throw new Error('the client is closed')
    if (this.#current?.isAlive() === false) this.drop()
    this.#current ??= this.#begin()
    const { ready, over } = this.#current
    return Promise.race([ready.then(call), over])
  }

  #begin(): Current {
    const connection = this.#connect((error) => this.emit('error', error))
    let stop = (_: Error) => {}
    const over = new Promise<never>((_, reject) => {
      stop = reject
    })
    over.catch(() => {})
    const current = { ...connection, over, stop }
    // stop() is not called here: its error would come before the reason.
    connection.ready.catch(() => {
      if (this.#current === current) this.#current = undefined
      finish(connection)
    })
    return current
  }
}
