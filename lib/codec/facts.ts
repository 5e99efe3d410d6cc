// A layout for our own code: its definition and what follows from it. The same request always gets the same object. Other
// rooms cache what they derive from a layout with onceEach(). Users see lib/codec/layout.ts.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import { FARTHEST_MS, isAbsent, type Options, ownOf, readBounded, readInstant } from '../base/values.ts'
import type { Dialect } from './dialects.ts'
import dialects from './dialects.ts'
import { MODES, type Mode, Packing, partOf, withNodes } from './packing.ts'
import { type Definition, type GivenChoices, readIdOffset, readNodeCount, readSpec } from './spec.ts'

/** The choices that a layout allows. */
type Choices = { epoch?: number; nodes?: number; mode?: Mode; idOffset?: bigint }

// Layouts and generators that are shared by all code that asks for the same, as long as any of it holds them. Each has a
// native object with a finalizer, and these pile up in a loop that never lets the event loop turn. The map keeps nothing
// alive and has at most MOST keys: beyond that it forgets the oldest, and the next request for that key gets a new object.

const MOST = 10_000 // more than most layouts have node numbers

export class Interned<T extends object> {
  #known: Map<string | number | undefined, WeakRef<T>> = new Map()

  /** The object for this key; a new one if the last one has been collected. */
  get(key: string | number | undefined, make: () => T) {
    const known = this.#known.get(key)?.deref()
    if (known !== undefined) return known
    const made = make()
    this.#known.delete(key) // otherwise it would keep its old place in the order
    this.#known.set(key, new WeakRef(made))
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value)
    return made
  }
}

/** Makes a function that derives something from a layout once, and caches it for as long as the layout exists. */
export function onceEach<T extends object>(make: (facts: LayoutFacts) => T): (facts: LayoutFacts) => T {
  const known: WeakMap<LayoutFacts, T> = new WeakMap()
  return (facts) => {
    let made = known.get(facts)
    if (made === undefined) {
      made = make(facts)
      known.set(facts, made)
    }
    return made
  }
}

const sameName = (name: string) => name

export class LayoutFacts {
  spec
  choices
  name
  epoch
  tickNs
  tickMs
  fields
  mode
  host
  idOffset
  maxAheadMs
  maxWaitMs
  hasNodes
  packing
  nodeFields
  nodeNames
  partNames

  #key // of the choices
  #variants: Interned<LayoutFacts> = new Interned() // with other choices
  /** the user's view of it, once layoutOf() of layout.ts has made it, which alone uses this */
  layout: object | undefined = undefined
  /** the last 58 bits of its UUIDs, once uuid.ts has needed them */
  mark: bigint | undefined = undefined

  constructor(spec: Definition, given: Choices) {
    const choices = ownOf(given) as Choices
    const row = ownOf(spec.fields === undefined ? dialectOf(spec.name) : spec) as unknown as Dialect

    this.#key = keyOf(choices)
    this.spec = spec
    /** the epoch and the other choices; undefined if no choice was made */
    this.choices = choices
    this.name = spec.name
    this.epoch = choices.epoch ?? row.epoch ?? 0
    this.tickNs = row.tickNs ?? 1_000_000
    this.tickMs = this.tickNs / 1e6
    this.fields = Object.freeze(withNodes(row.fields ?? [], choices.nodes).map((field) => Object.freeze(field)))
    this.mode = choices.mode ?? (this.hasModeBit ? MODES[0] : undefined)
    this.host = row.host
    this.idOffset = choices.idOffset
    this.maxAheadMs = row.maxAheadMs ?? 0
    this.maxWaitMs = row.maxWaitMs ?? 0
    this.hasNodes = row.hasNodes ?? false
    this.packing = new Packing(this)
    this.nodeFields = this.packing.nodeFields
    this.nodeNames = this.nodeFields.map(({ name }) => name)
    this.partNames = ['timestamp', 'date', 'tick', 'counter', 'id', 'mode', ...this.nodeNames]
    if (this.idOffset !== undefined && !this.packing.isTimeOrdered)
      throw errors.unusableOptionError('idOffset', this.idOffset, wanted.withLayout(this.name, 'idOffset'))
    if (this.idOffset !== undefined && !this.packing.hasTicks)
      throw errors.optionRangeError('idOffset', this.idOffset, wanted.FITTING_IDS)
    if (choices.epoch !== undefined && this.packing.end() > FARTHEST_MS)
      throw errors.optionRangeError('epoch', this.epoch, wanted.earlyEpoch(FARTHEST_MS))
  }

  /** The same layout with other choices; those left out stay as they are. */
  with({ epoch, nodes, mode, idOffset }: GivenChoices): LayoutFacts {
    const present = this.choices
    const choices = {
      epoch: isAbsent(epoch) ? present.epoch : readInstant('epoch', epoch),
      nodes: isAbsent(nodes) ? present.nodes : readNodeCount(nodes, this),
      mode: isAbsent(mode) ? present.mode : this.#chosenMode(mode),
      idOffset: isAbsent(idOffset) ? present.idOffset : readIdOffset(idOffset),
    }
    const key = keyOf(choices)
    if (key === this.#key) return this
    return this.#variants.get(key, () => new LayoutFacts(this.spec, choices))
  }

  /** Whether its IDs contain their mode, as uniqueid's do. */
  get hasModeBit() {
    return this.fields.some(([name]) => name === 'mode')
  }

  /** Undefined if it is what the layout is without a choice. */
  #chosenMode(mode: unknown) {
    const chosen = readMode(mode, this)
    return this.hasModeBit || chosen === MODES[0] ? chosen : undefined
  }

  /**
   * The node number: `id`, or the node fields by name, or 0. Fields given together with `id` must agree with it.
   * @param label the name of a field in an error
   */
  readNode(given: Options, label: (name: string) => string = sameName) {
    const { nodeFields } = this
    let joined = 0
    let isNamed = false
    for (let i = 0; i < nodeFields.length; i++) {
      const { name, max, unit } = nodeFields[i]
      const value = given[name]
      if (isAbsent(value)) continue
      joined += readBounded(label(name), value, 0, max) * unit
      isNamed = true
    }
    const { id } = given
    if (isAbsent(id)) return joined
    const { nodeMax } = this.packing
    if (nodeMax === 0 && Number(id) !== 0) {
      throw errors.optionRangeError(label('id'), id, `left out, because layout '${this.name}' has no node number`)
    }
    const node = readBounded(label('id'), id, 0, nodeMax)
    const other = isNamed && nodeFields.find((field) => isOther(given[field.name], partOf(field, node)))
    if (other)
      throw errors.optionRangeError(label(other.name), given[other.name], wanted.asInId(id, partOf(other, node)))
    return node
  }
}

const isOther = (given: unknown, part: number) => !isAbsent(given) && Number(given) !== part

/** The order of the timestamp's bits. */
export function readMode(mode: unknown, { name, host }: LayoutFacts) {
  if (host !== undefined) throw errors.unusableOptionError('mode', mode, wanted.withLayout(name, 'mode'))
  const known = MODES.find((name) => name === mode)
  if (known === undefined) throw errors.optionRangeError('mode', mode, `one of '${MODES.join("', '")}'`)
  return known
}

const dialectOf = (name: string) => dialects.find((dialect) => dialect.name === name) as Dialect

/** Just the epoch if that is the only choice: a Map finds a number faster than text. */
function keyOf({ epoch, nodes, mode, idOffset }: Choices) {
  const isPlain = nodes === undefined && mode === undefined && idOffset === undefined
  return isPlain ? epoch : `${epoch} ${nodes} ${mode} ${idOffset}`
}

const bases: Interned<LayoutFacts> = new Interned() // layouts without choices, by their spec

/** The layout of a spec, from its own properties only: an epoch is kept for all who use the layout. */
function baseOf(spec: Definition & { epoch?: number }) {
  const { epoch, ...parts } = ownOf(spec) as unknown as typeof spec
  return bases.get(
    JSON.stringify([parts, epoch]),
    () => new LayoutFacts(ownOf(parts) as unknown as Definition, { epoch }),
  )
}

/** The layout of a dialect's name, of a user's own fields, or of a copied Layout. */
export function factsOfSpec(given: unknown) {
  const { base, choices } = readSpec(given)
  return baseOf(base).with(ownOf(choices))
}

let usual: LayoutFacts | undefined // cached, because finding it by its name takes longer than making a generator

/** The default layout. */
export function usualFacts() {
  usual ??= baseOf({ name: dialects[0].name })
  return usual
}
