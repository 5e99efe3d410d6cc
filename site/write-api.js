// Writes the API pages: the types of each entry as Markdown, in site/api/, which VitePress then reads like the guides.

import { rm } from 'node:fs/promises'
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
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc warns, see above')
}
