'use strict'

// Reads the output of AddressSanitizer: errors, leaks, and how much memory is in use. Every error counts; a leak counts
// when an addon allocated the memory, for Node.js itself leaves some when it exits. An entry that cannot be parsed,
// such as one without a stack, counts too.

const fs = require('node:fs')
const path = require('node:path')

/** How the sanitizer must format a code location: number, function, file and line, module. */
const FRAME_FORMAT = '    #%n %f %S [%m]'

/**
 * Accepted leaks: what their stack must contain, and why they are not ours. Each occurs a few times per environment (a
 * thread of JavaScript), when it ends. The subjects of growth.cjs show leaks while a process runs.
 */
const KNOWN = [
  // napi-rs references each class, and some objects of JavaScript's own, as long as the environment lives. Node.js 20
  // does not free these references with it.
  [/ napi_create_reference /, /register_classes|cache_reflect_intrinsics/],
  // The scratch array of src/hot.rs. napi-rs does not release the reference once the environment ends.
  [/ napi_create_reference /, /from_napi_value.*\/arraybuffer\.rs/, /generators.*Generators.*new/],
  // A reference too, made by a copy of the addon whose file was removed before this process ended: no frame of it has a
  // name. A thread that loads the addon itself makes the same one with names, which are compared above.
  [/^ +#1 napi_create_reference /, /^ +#2 <null> <null> \[(?!.*flakeforge\.).*\.node\]$/],
  // The bundler's own classes, in a test that bundles.
  [/ napi_create_reference /, /rolldown-binding\..*\.node\]$/],
  // After process.exit() or an uncaught error, Node.js calls no finalizer. These are the functions that napi-rs calls
  // in one, for each remaining object (the object itself is still reachable), and V8's own memory behind objects of
  // JavaScript.
  [
    / new<core::cell::Cell<\*mut dyn core::ops::function::FnOnce/,
    / _construct<.*\/callback_info\.rs| new_instance_raw .*\/class\.rs/,
  ],
  [/^ +#1 v8::internal::/],
]

/** Less than this per round is not growth: threads that begin or end between two counts have a few hundred bytes. */
const LEAST_BYTES = 8

const isFrame = (line) => /^ +#\d+ /.test(line)
const isKnown = (stack) => KNOWN.some((wanted) => wanted.every((pattern) => stack.some((line) => pattern.test(line))))

/** Whether Node.js called an unloaded library; tests run other programs too, whose stacks say nothing. */
const isUnloaded = (stack) => stack[1].endsWith('[<null>]') && stack.some((line) => line.endsWith('/node]'))

/** Allocated by an addon, loaded or not: the first line of a stack is `malloc` or `new`. */
const isOurs = (stack) => stack.length < 2 || isUnloaded(stack) || stack.some((line) => line.endsWith('.node]'))

/** Entries that begin with a line like `pattern`: its groups, and the stack below it. */
function entriesOf(text, pattern) {
  const lines = text.split('\n')
  return lines.flatMap((line, i) => {
    const match = line.match(pattern)
    if (match === null) return []
    const end = lines.findIndex((next, k) => k > i && !isFrame(next))
    return [{ line, match, stack: lines.slice(i + 1, end === -1 ? undefined : end) }]
  })
}

const shown = ({ line, stack }) => [line, ...stack].join('\n')

/** Errors, each from the line that names it to the end of the report: a process ends with its first one. */
const errorsOf = (text) => text.match(/^.*ERROR: AddressSanitizer[\s\S]*/m) ?? []

function leaksOf(text) {
  const leaks = entriesOf(text, /^(?:Direct|Indirect) leak of \d+ byte/)
  return leaks.filter(({ stack }) => isOurs(stack) && !isKnown(stack)).map(shown)
}

/** How much memory our addons have in each profile of a report: bytes by stack. */
function profilesOf(text) {
  const profiles = text.split(/^Live Heap Allocations: .*$/m).slice(1)
  return profiles.map((profile) => {
    const entries = entriesOf(profile, /^(\d+) byte\(s\) \(\d+%\) in \d+ allocation\(s\)/)
    const ours = entries.filter(({ stack }) => isOurs(stack) && !isKnown(stack))
    return new Map(ours.map(({ match, stack }) => [stack.join('\n'), Number(match[1])]))
  })
}

/**
 * What grew by 8 bytes per round or more, for subjects that were each profiled twice. Throws if profiles are missing,
 * or if one contains nothing of our addons: growth could not be seen then.
 */
function growthOf(text, subjects) {
  const profiles = profilesOf(text)
  if (profiles.length !== 2 * subjects.length)
    throw new Error(`${profiles.length} profiles of ${subjects.length} subjects`)
  return subjects.flatMap(({ name, rounds }, i) => {
    const [before, after] = profiles.slice(2 * i, 2 * i + 2)
    if (after.size === 0) throw new Error(`${name}: the profile has no memory of ours`)
    const grown = [...after].map(([stack, bytes]) => ({ stack, more: bytes - (before.get(stack) ?? 0) }))
    const sum = grown.reduce((total, { more }) => total + more, 0) - gone(before, after)
    if (sum < LEAST_BYTES * rounds) return []
    const most = grown.toSorted((a, b) => b.more - a.more)[0]
    return [`${name}: ${sum} bytes more after ${rounds} rounds, ${most.more} of them from\n${most.stack}`]
  })
}

const gone = (before, after) => [...before].reduce((sum, [stack, bytes]) => sum + (after.has(stack) ? 0 : bytes), 0)

/** All reports in a folder, as one text each. */
const read = (folder) => fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name), 'utf8'))

const findingsOf = (text) => [...errorsOf(text), ...leaksOf(text)]

module.exports = { FRAME_FORMAT, findingsOf, growthOf, read }
