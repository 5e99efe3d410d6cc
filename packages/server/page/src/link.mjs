// The link to an ID: #id=…&layout=… (or &name=… for a name of this server). It is in the hash, which browsers do not send to
// the server.

/** The ID and the layout in a hash; undefined if it has no ID. */
export function readLink(hash) {
  const asked = new URLSearchParams(hash.replace(/^#/, ''))
  const id = asked.get('id')
  if (id === null) return undefined
  const name = asked.get('name')
  return { id, key: name === null ? (asked.get('layout') ?? '') : `name ${name}` }
}

/** The hash for a text and a selected layout; '' stands for the most plausible one. */
export function linkTo(id, key) {
  const asked = new URLSearchParams({ id })
  if (key.startsWith('name ')) asked.set('name', key.slice('name '.length))
  else if (key !== '') asked.set('layout', key)
  return `#${asked}`
}
