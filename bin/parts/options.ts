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
  epoch: { value: 'DATE', about: 'the instant from which timestamps count: ISO text or Unix ms' },
  nodes: { value: 'N', about: 'snowcast: the maximum number of nodes' },
  mode: { value: 'MODE', about: 'uniqueid: spread or sequential', among: () => ['spread', 'sequential'] },
  'id-offset': { value: 'N', about: 'a number that is added to every ID' },
} satisfies Options

export const NODE_OFFSET = {
  'node-offset': { value: 'N', about: 'a number that is added to node numbers' },
} satisfies Options

export const GROUP = { group: { value: 'NAME', about: "the group of slots (default 'default')" } } satisfies Options

export const SEGMENT = { segment: { value: 'NAME', about: 'a counter of SegmentId' } } satisfies Options

/** The options that all members of a group must agree on, besides the layout. */
export const OF_GROUP = {
  slots: { value: 'N', about: 'how many slots the group has (default: as many as the layout has free node numbers)' },
  ttl: { value: 'MS', about: 'on a server: how long each grant of a slot lasts (default 30000)' },
  skew: { value: 'MS', about: 'on a server: how far clocks may differ (default 5000)' },
  durable: { about: 'promise that the server never loses acknowledged writes, so a new group needs no wait' },
} satisfies Options

export const COLUMN = {
  column: {
    value: 'FORM',
    about: `print the WHERE for a column of this form: ${COLUMNS.join(', ')}`,
    among: () => COLUMNS,
  },
} satisfies Options

export const OF_NEW = {
  n: { value: 'N', short: 'n', about: 'how many IDs: the same as N alone' },
  as: { value: 'FORM', about: `one ID per line, as one of ${FORMS.join(', ')}`, among: () => FORMS },
  id: { value: 'N', about: "the whole node number, or 'ordinal' for the number at the end of the host name" },
  shared: {
    value: 'FILE',
    about: 'take the numbers from this file, which all processes of a machine can share',
    completes: 'file',
  },
  store: {
    value: 'DIR|URL',
    about:
      "take a free slot of this folder (an absolute path) or server, for as long as the command runs (default $FLAKEFORGE_STORE, else the user's own folder)",
    completes: 'store',
  },
  wait: { value: 'MS', about: 'how long to wait for a free slot (default 90000)' },
} satisfies Options

const { layout, epoch, nodes } = OF_LAYOUT

export const OF_SCHEMA = {
  grant: { value: 'ROLES', about: 'postgres: the roles that get the rights they need, with commas between them' },
  function: { value: 'NAME', about: 'print a function that makes IDs, such as flake_id' },
  node: { value: 'N', about: 'the whole node number of the function, which no process may use' },
  ...{ layout, epoch, nodes },
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
    about: 'the column of the ID, if lines have several: its number from 1 on, its name or its key',
  },
} satisfies Options

export const YES = { yes: { about: 'confirm: without this nothing happens' } } satisfies Options

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
