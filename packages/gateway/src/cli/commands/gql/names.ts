/** Kinds and properties of a namespace, from the metadata kinds of the data API. */
import { entitiesOf } from '../../../fixtures/dump.ts'
import type { KnownNames } from '../../../gql/complete.ts'
import { within } from '../../../within.ts'
import type { Io } from '../../framework/command.ts'
import type { ApiStore } from '../../target/api-store.ts'

const keptMs = 5000

const patienceMs = 2000

const noNames: KnownNames = { kinds: [], properties: () => [] }

/** The names in the paths of a metadata kind: `[kind]` of `__kind__`, `[kind, property]` of `__property__`. */
export async function pathsOf(
  store: ApiStore,
  kind: '__kind__' | '__property__',
  namespaceId: string,
): Promise<readonly (readonly string[])[]> {
  const paths: string[][] = []
  for await (const { key } of entitiesOf(store, namespaceId, kind)) paths.push(key.path.map(({ name = '' }) => name))
  return paths
}

/** The names for completion, read at the first call and kept for some seconds; empty while no server answers. */
export function namesOf(store: ApiStore, namespaceId: string, { now }: Pick<Io, 'now'>): () => Promise<KnownNames> {
  let asked: { readonly at: number; readonly names: Promise<KnownNames> } | undefined
  return async () => {
    if (asked === undefined || now() - asked.at > keptMs) {
      asked = { at: now(), names: ask(store, namespaceId).catch(() => noNames) }
    }
    return (await within(patienceMs, asked.names)) ?? noNames
  }
}

async function ask(store: ApiStore, namespaceId: string): Promise<KnownNames> {
  const kinds = (await pathsOf(store, '__kind__', namespaceId)).map(([kind = '']) => kind)
  const properties = await pathsOf(store, '__property__', namespaceId)
  return {
    kinds: kinds.filter((kind) => !kind.startsWith('__')),
    properties: (kind) =>
      properties.filter(([of]) => kind === undefined || of === kind).map(([, property = '']) => property),
  }
}
