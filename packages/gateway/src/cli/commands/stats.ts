/**
 * `sixtables stats`: number of entities of each kind, their bytes, and their index rows in each table.
 *
 * The figures are from the statistics kinds, which are computed when they are read. Each of the two property tables has one row for an indexed
 * value, EntitiesByKind one for an entity.
 */
import type { Value } from '@sixtables/engine'
import { entitiesOf } from '../../fixtures/dump.ts'
import type { Flags, Io } from '../framework/command.ts'
import { counted, printed, table } from '../framework/print.ts'
import { withApi } from '../target/api-store.ts'

type KindStats = ReturnType<typeof statsOf>

export async function stats(flags: Flags, io: Io): Promise<number> {
  const namespace = flags['namespace'] === undefined ? undefined : String(flags['namespace'])
  const kind = namespace === undefined ? '__Stat_Kind__' : '__Stat_Ns_Kind__'
  const kinds: KindStats[] = []
  await withApi(flags, io, async (store) => {
    for await (const { properties } of entitiesOf(store, namespace ?? '', kind)) kinds.push(statsOf(properties))
  })
  return printed(flags, io, { kinds }, () => inWords(kinds))
}

function statsOf(properties: ReadonlyMap<string, Value>) {
  const number = (name: string): number => {
    const value = properties.get(name)
    return value?.type === 'integer' ? Number(value.value) : 0
  }
  const kind = properties.get('kind_name')
  const entities = number('count')
  const byProperty = (number('builtin_index_count') - entities) / 2
  return {
    kind: kind?.type === 'string' ? kind.value : '',
    entities,
    entityBytes: number('entity_bytes'),
    rows: {
      EntitiesByKind: entities,
      EntitiesByPropertyAsc: byProperty,
      EntitiesByPropertyDesc: byProperty,
      EntitiesByCompositeProperty: number('composite_index_count'),
    },
    indexBytes: number('builtin_index_bytes') + number('composite_index_bytes'),
  }
}

function inWords(kinds: readonly KindStats[]): readonly string[] {
  if (kinds.length === 0) return ['There are no entities.']
  const entities = kinds.reduce((sum, kind) => sum + kind.entities, 0)
  const bytes = kinds.reduce((sum, { entityBytes, indexBytes }) => sum + entityBytes + indexBytes, 0)
  return [
    ...table([
      ['kind', 'entities', 'bytes', 'ByKind', 'ByPropertyAsc', 'ByPropertyDesc', 'ByComposite', 'index bytes'],
      ...kinds.map(({ kind, entities: count, entityBytes, rows, indexBytes }) => [
        kind,
        ...[count, entityBytes, ...Object.values(rows), indexBytes].map(String),
      ]),
    ]),
    `${counted(kinds.length, 'kind')}, ${counted(entities, 'entity', 'entities')}, ${counted(bytes, 'byte')} with index rows.`,
  ]
}
