// Files that the configuration names. Each is opened once, and everything is asked of that descriptor. A secret that others can
// read or replace is refused, as ssh and PostgreSQL do.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { signOfContainer } from '../../../shared.ts'
import { ConfigError } from './config-error.ts'

const MOST_BYTES = 1_048_576

/** The permissions that a secret must not have: of its group and others if it is ours, of others and to write if it is root's. */
const [OF_OTHERS, OF_OTHERS_OF_ROOT] = [0o077, 0o037]

/**
 * The text of a file.
 * @param what for messages, such as 'token file'
 * @param options.isSecret whether a text must not be known to others; `hint` is added if the file cannot be read
 */
export function readText(
  file: string,
  what: string,
  { isSecret = () => false, hint = '' }: { isSecret?: (text: string) => boolean; hint?: string } = {},
) {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) // a FIFO would block
    const found = fstatSync(descriptor)
    if (!found.isFile()) throw new ConfigError(`The ${what} ${file} is not a regular file. ${hint}`.trimEnd())
    if (found.size > MOST_BYTES)
      throw new ConfigError(`The ${what} ${file} has ${found.size} bytes, and at most ${MOST_BYTES} are read.`)
    const text = readFileSync(descriptor, 'utf8')
    if (isSecret(text)) refuseShared(found, descriptor, `The ${what} ${file}`, file)
    return text
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`The ${what} ${file} cannot be read: ${(error as Error).message}. ${hint}`.trimEnd())
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Windows has no such permissions. */
function refuseShared({ mode, uid }: Stats, descriptor: number, what: string, file: string) {
  if (process.geteuid === undefined) return
  const isOurs = uid === process.geteuid()
  const fault =
    uid !== 0 && !isOurs
      ? `belongs to another user (uid ${uid}), who could replace it. Use: chown ${process.geteuid()} ${file}`
      : (mode & (uid === 0 ? OF_OTHERS_OF_ROOT : OF_OTHERS)) !== 0
        ? `is open to other users: its mode is ${(mode & 0o777).toString(8).padStart(4, '0')}. Use: chmod 600 ${file}`
        : undefined
  if (fault !== undefined && !isMounted(descriptor)) throw new ConfigError(`${what} ${fault}`)
}

/**
 * Whether a container engine put the file there. Docker and Kubernetes mount secrets read-only, readable by all and owned by
 * whoever: only the container's own processes can open them.
 */
function isMounted(descriptor: number) {
  if (signOfContainer() === undefined) return false
  try {
    const [, id] = /^mnt_id:\s*(\d+)$/m.exec(
      readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'),
    ) as RegExpExecArray
    const mounts = readFileSync('/proc/self/mountinfo', 'latin1')
    const [, options] = new RegExp(`^${id}(?: \\S+){4} (\\S+)`, 'm').exec(mounts) as RegExpExecArray
    return options.split(',').includes('ro')
  } catch {
    return false // no /proc, or one without these
  }
}
