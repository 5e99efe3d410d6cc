// What stands in the navigation, in which order and under which name. A guide that is missing here fails the build.

import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { root } from './pages.js'

const GUIDES = {
  'Start here': { choosing: 'Choosing an ID', 'command-line': 'The command line' },
  'Node numbers': {
    processes: 'Many processes',
    machines: 'Many machines',
    containers: 'Containers',
    serverless: 'Serverless',
    'your-own-database': 'Your own database',
    'what-can-go-wrong': 'What can go wrong',
  },
  'In your project': {
    databases: 'Databases',
    bundling: 'Bundlers',
    'package-managers': 'Package managers and runtimes',
    testing: 'Tests with fake timers',
  },
  'Coming from': {
    'from-sapphire-snowflake': '@sapphire/snowflake',
    'from-snowflake-uuid': 'snowflake-uuid',
    'from-uuid-and-nanoid': 'UUIDs and nanoid',
    'from-hazelcast': 'Hazelcast',
  },
}

const EXAMPLES = {
  'examples/': 'All examples',
  'examples/kubernetes/': 'Kubernetes',
  'examples/cluster-redis/': 'Cluster with Redis',
  'examples/postgres/': 'PostgreSQL',
}

const isThere = (name) => existsSync(path.join(root, 'docs', `${name}.md`))

const named = new Set(Object.values(GUIDES).flatMap(Object.keys))
const unnamed = readdirSync(path.join(root, 'docs')).filter((file) => !named.has(file.replace(/\.md$/, '')))
if (unnamed.length > 0) throw new Error(`site/navigation.js does not name docs/${unnamed.join(', docs/')}`)

/** The API pages, as write-api.js left them: a folder for each kind. */
function apiGroups() {
  const api = path.join(root, 'site', 'api')
  const kinds = existsSync(api) ? readdirSync(api, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : []
  return kinds.map(({ name: kind }) => ({
    text: kind,
    items: readdirSync(path.join(api, kind))
      .map((file) => file.replace(/\.md$/, ''))
      .map((name) => ({ text: name, link: `/api/${kind}/${name}` })),
  }))
}

const item = ([page, text]) => ({ text, link: `/${page}` })

export const navigation = {
  nav: [
    { text: 'Guide', link: '/choosing' },
    { text: 'API', link: '/api/' },
    { text: 'Changes', link: '/changelog' },
  ],
  sidebar: [
    { text: 'Overview', link: '/' },
    ...Object.entries(GUIDES).map(([text, pages]) => ({
      text,
      items: Object.entries(pages)
        .filter(([page]) => isThere(page))
        .map(item),
    })),
    { text: 'Examples', collapsed: true, items: Object.entries(EXAMPLES).map(item) },
    { text: 'API', link: '/api/', collapsed: true, items: apiGroups() },
  ],
}
