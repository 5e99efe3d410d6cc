// The generator of IDs for Prisma 8, as an extension. A field that names it gets an ID in every row that is created without
// one: by create and createAll, in an upsert, and in the rows that a nested write creates.

const GENERATOR = 'flake'

/** A field that the generator fills: `flakeId(field, int8Column).id()`. */
export const flakeId = (field, column) =>
  field.generated({ type: column, generated: { kind: 'generator', id: GENERATOR } })

/** The extension: `postgres({ contract, url, extensions: [flakeIds('postgres', newId)] })`. */
export const flakeIds = (targetId, newId) => ({
  kind: 'extension',
  id: 'flakeforge',
  version: '1.0.0',
  familyId: 'sql',
  targetId,
  codecs: () => [],
  create: () => ({ familyId: 'sql', targetId }),
  mutationDefaultGenerators: () => [{ id: GENERATOR, generate: newId, stability: 'field' }], // called for each field
})
