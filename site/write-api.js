// Writes the API pages: the types of each entry as Markdown, in site/api/, which VitePress then reads like the guides.

import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, Converter, ReflectionKind } from 'typedoc'

const FOLDER = fileURLToPath(new URL('./api/', import.meta.url))

const OPTIONS = {
  // The main entry first, as it is imported: for require, its class and the other exports are one.
  entryPoints: ['dist/index.d.mts', 'lease.d.ts', 'codec.d.ts', 'metrics.d.ts', 'remote.d.ts'].map(
    (file) => `../${file}`,
  ),
  tsconfig: 'tsconfig.json',
  plugin: ['typedoc-plugin-markdown'],
  out: FOLDER,
  readme: 'none',
  name: 'API',
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  router: 'kind',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  entryFileName: 'index',
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'list',
  validation: { notExported: false, invalidLink: true },
}

/** What each entry of the package is for, and the page about it. */
const PURPOSES = {
  index: [
    'generators, layouts, IDs as text and in JSON, seals, and `join()`',
    '`FlakeId`, `Layout`, `format`, `parse`',
  ],
  lease: ['stores that you open yourself, and small numbers in sequence', '`SegmentId`, `redisStore`, `recordStore`'],
  codec: [
    'layouts, text and JSON in plain JavaScript, for browsers and workers too',
    '`layouts`, `format`, `jsonReviver`',
  ],
  remote: ['IDs from flakeforge-server, for browsers, workers and functions', '`RemoteFlakeId`'],
  metrics: ['counts for Prometheus and OpenTelemetry', '`prometheusMetrics`, `openTelemetryMetrics`'],
  'biguint-format': ['a drop-in for the package biguint-format', 'a function, for `require`'],
}

/** The first page of the API: the entries, and what each is for. */
function indexPage() {
  const { ENTRIES } = createRequire(import.meta.url)('../scripts/entries.js')
  const rows = ENTRIES.map(({ name, isFunction }) => {
    if (PURPOSES[name] === undefined) throw new Error(`site/write-api.js lacks the purpose of the entry ${name}`)
    const entry = name === 'index' ? 'flakeforge' : `flakeforge/${name}`
    const page = isFunction ? '../../docs/data/input.md' : `modules/${entry.replace('/', '_')}.md`
    return `| [\`${entry}\`](${page}) | ${PURPOSES[name].join(' | ')} |`
  })
  return `# API

Import what you need from one of these entries: \`import { FlakeId } from 'flakeforge'\`. In CommonJS,
\`const { FlakeId } = require('flakeforge')\`. The [guides](../../docs/start/getting-started.md) show how the parts work together.

| entry | what for | such as |
|---|---|---|
${rows.join('\n')}
`
}

/** Names the entries as they are imported, and lists what the main one exports only there. */
function asImported({ project }) {
  const [main, ...others] = project.getChildrenByKind(ReflectionKind.Module)
  for (const entry of others) entry.name = `flakeforge/${entry.name}`
  main.name = 'flakeforge'
  for (const each of project.getReflectionsByKind(ReflectionKind.Namespace | ReflectionKind.Reference))
    project.removeReflection(each)
}

export async function writeApi() {
  await rm(FOLDER, { recursive: true, force: true })
  const app = await Application.bootstrapWithPlugins(OPTIONS)
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, asImported, 1000)
  const project = await app.convert()
  if (project === undefined) throw new Error('the types do not compile')
  app.validate(project)
  await app.generateOutputs(project)
  await writeFile(path.join(FOLDER, 'index.md'), indexPage())
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc warns, see above')
}
