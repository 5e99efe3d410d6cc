'use strict'

// Boxes and arrows as a drawing of Mermaid, which GitHub shows. It omits each arrow whose end is also reached by a
// longer path, so that a drawing stays readable.

/** Everything that can be reached from a box. */
function reached(from, arrows, seen = new Set()) {
  for (const [, to] of arrows.filter(([start]) => start === from)) {
    if (seen.has(to)) continue
    seen.add(to)
    reached(to, arrows, seen)
  }
  return seen
}

/** Whether the same box is reached without this arrow, by a longer path. */
const isShortcut = ([from, to], arrows) =>
  reached(
    from,
    arrows.filter((other) => other[0] !== from || other[1] !== to),
  ).has(to)

/** A drawing: boxes by their names, and the arrows between them. */
function drawing(names, arrows) {
  const id = (name) => `f_${name.replaceAll(/\W/g, '_')}`
  const drawn = arrows.filter((arrow) => !isShortcut(arrow, arrows))
  const lines = [
    ...names.map((name) => `  ${id(name)}["${name}"]`),
    ...[...new Set(drawn.map(([from, to]) => `  ${id(from)} --> ${id(to)}`))].sort(),
  ]
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n')
}

module.exports = { drawing }
