// Every option of the server, once: its name on the command line, as a variable and in the JSON file, its valid values, and
// its purpose. Help, the checks and the documentation's table come from here.

import { isIP } from 'node:net'
import { isRange } from '../http/proxies.ts'

export interface Option {
  about: string
  /** the name of its value in the help; '' for a switch */
  value: string
  /** if not FLAKEFORGE_SERVER_… */
  variable?: string
  type: 'text' | 'texts' | 'number'
  range?: [min: number, max: number]
  among?: string[]
  /** the requirement for each of several texts */
  each?: { isGood: (text: string) => boolean; wanted: string }
  /** the default */
  absent?: any
  /** whether it is allowed on the command line only */
  onlyCommand?: boolean
}

const DAY_MS = 86_400_000

const ORIGINS = {
  isGood: (text: string) => text === '*' || (URL.canParse(text) && new URL(text).origin === text),
  wanted: 'an origin such as https://shop.example, without a path, or *',
}

const PROXIES = {
  isGood: isRange,
  wanted: 'an address such as 10.0.0.7, a range such as 10.0.0.0/8, or one of loopback, linklocal and uniquelocal',
}

/** A host as browsers write it, without its port. */
const HOSTS = {
  isGood: (text: string) => text === '*' || isIP(text) !== 0 || /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/i.test(text),
  wanted: 'a name or an address without a scheme or port, such as ids.example, or *',
}

/** by the name on the command line */
export const OPTIONS: Record<string, Option> = {
  config: {
    type: 'text',
    value: 'FILE',
    onlyCommand: true,
    about: 'a JSON file with several names, and these options',
  },
  store: {
    type: 'text',
    value: 'ADDRESS',
    variable: 'FLAKEFORGE_STORE',
    about:
      'the store: file:DIR, redis://…, valkey://…, postgres://…, mysql://… or etcd://…; three or five addresses with spaces ' +
      'between them are one store (default: a folder of this user)',
  },
  name: {
    type: 'texts',
    value: 'NAME',
    onlyCommand: true,
    about: "a group to serve; may be repeated (default: 'default')",
  },
  layout: {
    type: 'text',
    value: 'LAYOUT',
    onlyCommand: true,
    about: 'the layout of all names: a known one, or JSON (default: flake)',
  },
  // Cloud Run, Heroku and others tell programs by PORT where to listen. Kubernetes sets FLAKEFORGE_SERVER_PORT to an address in
  // every pod beside a service of that name. Which hosts are served is for the operator alone to say, so that has our own name:
  // login shells and compilers' environments export HOST.
  port: {
    type: 'number',
    value: 'N',
    range: [0, 65_535],
    variable: 'PORT',
    absent: 8080,
    about: 'the port, or 0 for any free one',
  },
  host: {
    type: 'text',
    value: 'HOST',
    absent: '127.0.0.1',
    about: 'the address to listen on; 0.0.0.0 or :: for all addresses of this machine',
  },
  socket: { type: 'text', value: 'PATH', about: 'a Unix socket to listen on instead of a port' },
  'metrics-port': {
    type: 'number',
    value: 'N',
    range: [0, 65_535],
    about: 'a separate port for /metrics',
  },
  'metrics-host': { type: 'text', value: 'HOST', about: 'the address of that port (default: 127.0.0.1)' },
  'metrics-token-file': { type: 'text', value: 'FILE', about: 'the tokens for that port (default: none is needed)' },
  'token-file': {
    type: 'text',
    value: 'FILE',
    about:
      'a file with one token per line, of at least 16 characters; # starts a comment. Read again on SIGHUP. Other users must not be able to read it',
  },
  'tls-cert': { type: 'text', value: 'FILE', about: 'the certificates of all ports, as PEM; read again on SIGHUP' },
  'tls-key': { type: 'text', value: 'FILE', about: 'the private key, as PEM; other users must not be able to read it' },
  'tls-ca': { type: 'text', value: 'FILE', about: 'the CA whose certificates clients must have' },
  cors: {
    type: 'texts',
    value: 'ORIGIN',
    each: ORIGINS,
    about: 'an origin whose web pages may request IDs; may be repeated; * means all',
  },
  'allow-host': {
    type: 'texts',
    value: 'NAME',
    each: HOSTS,
    about: 'another host name under which clients reach this server; may be repeated; * means any',
  },
  rate: {
    type: 'number',
    value: 'N',
    range: [0, 1e9],
    absent: 0,
    about: 'the limit of requests per second for one client address; 0: none',
  },
  'trust-proxy': {
    type: 'texts',
    value: 'ADDRESS',
    each: PROXIES,
    about: 'a proxy whose X-Forwarded-For names the client, for --rate; may be repeated',
  },
  log: {
    type: 'text',
    value: 'WHAT',
    among: ['none', 'errors', 'requests'],
    absent: 'errors',
    about: 'what to log to stderr: none, errors (5xx only) or requests',
  },
  'max-connections': {
    type: 'number',
    value: 'N',
    range: [1, 1e6],
    absent: 10_000,
    about: 'the limit of connections; more are closed at once',
  },
  'max-waiting': {
    type: 'number',
    value: 'N',
    range: [0, 1e6],
    absent: 1000,
    about: 'the limit of clients that wait for IDs; more get 503',
  },
  'max-delay-ms': {
    type: 'number',
    value: 'MS',
    range: [0, DAY_MS],
    absent: 0,
    about: 'the lag of the event loop above which requests get 503 and /readyz fails; 0: no limit',
  },
  'max-header-bytes': {
    type: 'number',
    value: 'N',
    range: [1024, 1e6],
    absent: 16_384,
    about: 'the maximum size of the headers of a request',
  },
  'wait-ms': {
    type: 'number',
    value: 'MS',
    range: [0, DAY_MS],
    absent: 5000,
    about: 'how long a request waits for IDs',
  },
  'request-ms': {
    type: 'number',
    value: 'MS',
    range: [100, DAY_MS],
    absent: 10_000,
    about: 'how long a client may take to send a request, or to read an answer',
  },
  'keep-alive-ms': {
    type: 'number',
    value: 'MS',
    range: [0, DAY_MS],
    absent: 72_000,
    about: 'how long a connection stays open without a request',
  },
  'drain-ms': {
    type: 'number',
    value: 'MS',
    range: [0, DAY_MS],
    absent: 0,
    about: 'how long to keep serving after SIGTERM, while /readyz fails',
  },
  'end-ms': {
    type: 'number',
    value: 'MS',
    range: [0, DAY_MS],
    absent: 10_000,
    about: 'how long requests in progress may take after that',
  },
}

export const variableOf = (name: string) =>
  OPTIONS[name].variable ?? `FLAKEFORGE_SERVER_${name.toUpperCase().replaceAll('-', '_')}`

/** Its key in the JSON file. */
export const keyOf = (name: string) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase())
