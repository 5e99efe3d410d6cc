// The entries of the navigation, with their order and titles. A guide that is missing here fails the build.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { GUIDES, pageOf, root } from './pages.js'

/** The pages of database libraries, with their headings as titles: lab/databases decides which there are. */
function libraryPages() {
  const pages = GUIDES.filter((file) => file.startsWith('data/databases/'))
  const titles = pages.map((file) => /^# (.+)$/m.exec(readFileSync(path.join(root, 'docs', file), 'utf8'))[1])
  return Object.fromEntries(pages.map((file, i) => [file.replace(/\.md$/, ''), titles[i]]))
}

const GROUPS = {
  Start: {
    'start/getting-started': 'Getting started',
    troubleshooting: 'Troubleshooting',
    'start/which-id': 'Which ID fits',
    'start/comparison': 'Compared with others',
    glossary: 'Glossary',
    design: 'Design decisions',
  },
  Run: {
    'run/processes': 'Processes of one machine',
    'run/pm2': 'PM2 and node:cluster',
    'run/containers': 'Containers',
    'run/kubernetes': 'Kubernetes',
    'run/serverless': 'Serverless',
    'run/monitoring': 'Monitoring',
  },
  Store: {
    'store/choosing': 'Choosing a store',
    'store/redis': 'Redis and Valkey',
    'store/postgresql': 'PostgreSQL',
    'store/mysql': 'MySQL and MariaDB',
    'store/etcd': 'etcd',
    'store/quorum': 'Three stores as one',
    'store/segment-id': 'SegmentId',
    'store/your-own-database': 'Your own database',
    'store/mongodb': 'MongoDB',
    'store/kubernetes-leases': 'Leases of Kubernetes',
    'store/what-can-go-wrong': 'What can go wrong',
    'store/what-was-tested': 'What was tested',
  },
  'The ID service': {
    'service/server': 'The server',
    'service/client': 'The client',
    'service/else-from': 'When no slot is free',
    'service/page': 'The page',
    'service/deploy': 'Deployment',
  },
  Data: {
    'data/databases': 'Databases',
    'data/uuid-columns': 'uuid columns',
    'data/database-defaults': 'IDs from the database',
    'data/input': 'JSON and input',
    'data/public-ids': 'Public IDs',
    'data/partitions': 'Partitions and hot ranges',
    'data/audit': 'Checking a table of IDs',
    'data/backfill': 'IDs for existing rows',
  },
  'Database libraries': libraryPages(),
  Reference: {
    'reference/options': 'Options and variables',
    'reference/errors': 'Errors and warnings',
    'reference/layouts': 'Layouts',
    'reference/command-line': 'The command line',
    'reference/platforms': 'Platforms',
    'reference/package-managers': 'Package managers and runtimes',
    'reference/bundling': 'Bundlers',
    'reference/browsers': 'Browsers and workers',
    'reference/test-runners': 'Test runners',
  },
  'Coming from': {
    'migrate/flake-idgen': 'flake-idgen',
    'migrate/sapphire-snowflake': '@sapphire/snowflake',
    'migrate/snowflake-uuid': 'snowflake-uuid',
    'migrate/uuid-and-nanoid': 'UUIDs and nanoid',
    'migrate/hazelcast': 'Hazelcast',
    'migrate/snowcast': 'snowcast',
    'migrate/java-uniqueid': 'java-uniqueid',
    'migrate/chronicle': 'Chronicle',
    'migrate/sonyflake': 'Sonyflake',
    'migrate/tsid': 'TSID Creator',
    'migrate/cosid': 'CosId',
  },
}

const EXAMPLES = {
  'examples/': 'All examples',
  'examples/kubernetes/': 'Kubernetes',
  'examples/cluster-redis/': 'Cluster with Redis',
  'examples/postgres/': 'PostgreSQL',
  'examples/dynamodb/': 'A store on DynamoDB',
  'examples/clients/': 'Clients in other languages',
  'examples/observability/': 'Metrics and alerts',
}

const isThere = (name) => GUIDES.includes(`${name}.md`)

const named = new Set(Object.values(GROUPS).flatMap(Object.keys))
const unnamed = GUIDES.filter((file) => !named.has(file.replace(/\.md$/, '')))
if (unnamed.length > 0)
  throw new Error(`site/navigation.js lacks docs/${unnamed.join(', docs/')}. Add an entry for each guide.`)

/** The title of an API page: `flakeforge_remote.RemoteOptions` without its entry, and an entry as it is imported. */
const titleOf = (name) => name.replace(/^.*\./, '').replace('_', '/')

/** The API pages that write-api.js wrote: a folder for each kind, with the entries first. */
function apiGroups() {
  const api = path.join(root, 'site', 'api')
  const kinds = existsSync(api) ? readdirSync(api, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : []
  const names = kinds.map(({ name }) => name).sort((a, b) => (b === 'modules') - (a === 'modules'))
  return names.map((kind) => ({
    text: kind === 'modules' ? 'entries' : kind,
    items: readdirSync(path.join(api, kind))
      .map((file) => file.replace(/\.md$/, ''))
      .map((name) => ({ text: titleOf(name), link: `/api/${kind}/${name}` }))
      .sort((a, b) => (a.text < b.text ? -1 : 1)),
  }))
}

const item = ([page, text]) => ({ text, link: `/${page}` })

const guide = ([name, text]) => item([pageOf(`docs/${name}.md`).replace(/(?:(?<=\/)index)?\.md$/, ''), text])

export const navigation = {
  nav: [
    { text: 'Guide', link: '/start/getting-started' },
    { text: 'API', link: '/api/' },
    { text: 'Inspector', link: '/inspector/', target: '_self' }, // a separate page, see build.js
    { text: 'Changes', link: '/changelog' },
  ],
  sidebar: {
    '/api/': [
      { text: 'Overview', link: '/' },
      { text: 'API', items: [{ text: 'All entries', link: '/api/' }] },
      ...apiGroups(),
    ],
    '/': [
      { text: 'Overview', link: '/' },
      ...Object.entries(GROUPS).map(([text, pages]) => ({
        text,
        collapsed: text !== 'Start', // the group of the page is always open
        items: Object.entries(pages)
          .filter(([page]) => isThere(page))
          .map(guide),
      })),
      { text: 'Examples', items: Object.entries(EXAMPLES).map(item) },
      { text: 'API', items: [{ text: 'All entries', link: '/api/' }] },
    ],
  },
}
