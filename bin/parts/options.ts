// The options of all commands, each written once.

import { BASES } from '../../lib/codec/bases.ts'
import { type Layout, layouts } from '../../lib/entries/codec.ts'
import { FORMS as TEXT_FORMS } from '../../lib/reading/text-forms.ts'
import { COLUMNS } from './columns.ts'
import { factsOf } from './layout-facts.ts'

export interface Option {
  /** its purpose */
  about: string
  /** the name of its value; a switch has none */
  value?: string
  /** its name after a single dash */
  short?: string
  /** its possible values, if they are few */
  among?: () => string[]
  /** set if its value is one of these */
  completes?: 'file' | 'store'
}

/** by name */
export type Options = Record<string, Option>

export const FORMS: string[] = [...BASES, 'json']

export const OF_LAYOUT = {
  layout: {
    value: 'NAME',
    about: 'a system of `flakeforge layouts` (default flake), or your own fields as JSON: \'{"fields": …}\'',
    among: () => Object.keys(layouts),
  },
  epoch: { value: 'DATE', about: 'the start of timestamps: ISO text or Unix ms' },
  nodes: { value: 'N', about: 'snowcast: the maximum number of nodes' },
  mode: {
    value: 'MODE',
    about: "spread (the timestamp's bits reversed) or sequential",
    among: () => ['spread', 'sequential'],
  },
  'id-offset': { value: 'N', about: 'a number that is added to every ID' },
} satisfies Options

export const NODE_OFFSET = {
  'node-offset': { value: 'N', about: 'a number that is added to node numbers' },
} satisfies Options

export const GROUP = { group: { value: 'NAME', about: "the group of slots (default 'default')" } } satisfies Options

export const SEGMENT = { segment: { value: 'NAME', about: 'a counter of SegmentId' } } satisfies Options

/** The options that all members of a group must agree on, besides the layout. */
export const OF_GROUP = {
  slots: { value: 'N', about: 'the number of slots (default: all that the node bits allow)' },
  backfill: { value: 'N', about: 'how many node numbers the slots leave free for nextAt() (default 0)' },
  ttl: { value: 'MS', about: 'on a server: the length of a window (default 30000)' },
  skew: { value: 'MS', about: 'on a server: how far apart clocks may be (default 5000)' },
  durable: { about: 'your promise that the server never loses acknowledged writes: no wait for a new group' },
} satisfies Options

export const COLUMN = {
  column: {
    value: 'FORM',
    about: `print the WHERE clause for this kind of column: ${COLUMNS.join(', ')}`,
    among: () => COLUMNS,
  },
} satisfies Options

export const OF_NEW = {
  n: { value: 'N', short: 'n', about: 'the number of IDs, the same as N alone' },
  as: { value: 'FORM', about: `the form of the IDs, one per line: ${FORMS.join(', ')}`, among: () => FORMS },
  id: { value: 'N', about: "the whole node number, or 'ordinal' for the number at the end of the host name" },
  shared: {
    value: 'FILE',
    about: 'a file with a counter that all processes of a machine share',
    completes: 'file',
  },
  store: {
    value: 'DIR|URL',
    about:
      'the folder (an absolute path) or server whose slot the command holds (default $FLAKEFORGE_STORE, else your own folder)',
    completes: 'store',
  },
  wait: { value: 'MS', about: 'how long to wait for a slot (default 90000)' },
} satisfies Options

export const OF_SCHEMA = {
  grant: { value: 'ROLES', about: 'postgres: the roles that get rights, separated by commas' },
  function: { value: 'NAME', about: 'the name of a function to print, such as flake_id' },
  node: { value: 'N', about: 'the node number of the function, which no process may use' },
  times: { value: 'NAME', about: 'the prefix of functions for the times of IDs: NAME_time, …' },
  unsigned: { about: 'mysql: --times is for columns of the type BIGINT UNSIGNED' },
  ...OF_LAYOUT,
} satisfies Options

export const OF_INSPECT = {
  layout: {
    ...OF_LAYOUT.layout,
    about:
      'a system of `flakeforge layouts` (default: the most plausible one), or your own fields as JSON: \'{"fields": …}\'',
  },
  from: {
    value: 'FORM',
    about: `the form of the IDs: ${TEXT_FORMS.join(', ')} (default: the one that fits)`,
    among: () => TEXT_FORMS,
  },
} satisfies Options

export const OF_AUDIT = {
  column: {
    value: 'N|NAME',
    about: 'the column to check: its number from 1 on, its name in the first line, or its key',
  },
} satisfies Options

export const YES = { yes: { about: 'confirm (required)' } } satisfies Options

/** The options that every command has. */
export const COMMON = {
  json: { about: 'print JSON, one object per line' },
  help: { short: 'h', about: 'print this help' },
} satisfies Options

/** The node fields of a layout as options. */
export function nodeFields(layout: Layout): Options {
  const about = (name: string) => `the node field ${name} of layout ${layout.name}`
  return Object.fromEntries(factsOf(layout).nodeNames.map((name) => [name, { value: 'N', about: about(name) }]))
}
