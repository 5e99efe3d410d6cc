// The API pages: index.d.ts as Markdown, in site/api/, which VitePress then reads like the guides.
// It must never change what the types say: it only puts the parts of the namespace beside the class they are merged with.

import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Application, Converter, ReflectionKind } from 'typedoc'

const FOLDER = fileURLToPath(new URL('./api/', import.meta.url))

const OPTIONS = {
  entryPoints: ['../index.d.ts'],
  tsconfig: 'tsconfig.json',
  plugin: ['typedoc-plugin-markdown'],
  out: FOLDER,
  readme: 'none',
  name: 'API',
  excludePrivate: true,
  excludeExternals: true,
  excludeReferences: true, // FlakeId as default, and as FlakeId
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

/** `export =` is a class merged with a namespace. Importers see the class by its name, and the namespace's parts as exports. */
function asImported({ project }) {
  for (const each of Object.values(project.reflections)) {
    if (each.name === 'export=') each.name = 'FlakeId' // the class, its namespace, and what its constructor makes
  }
  for (const each of project.getChildrenByKind(ReflectionKind.Namespace)) project.mergeReflections(each, project)
}

export async function writeApi() {
  await rm(FOLDER, { recursive: true, force: true })
  const app = await Application.bootstrapWithPlugins(OPTIONS)
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, asImported, 1000)
  const project = await app.convert()
  if (project === undefined) throw new Error('index.d.ts does not compile')
  app.validate(project)
  await app.generateOutputs(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc warns, see above')
}
