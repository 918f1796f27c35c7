/** The kinds of a database by the data API: counted by a query of `__Stat_Kind__`, or only listed by one of `__kind__`. */
import { pathPart, postJson } from '../../api/http.ts'

export interface KindCount {
  readonly kind: string
  /** Figures are absent for a kind that is only listed. */
  readonly entities?: number
  readonly entityBytes?: number
  readonly indexRows?: number
  readonly indexBytes?: number
}

/** No answer has more rows. */
export const kindsMax = 100

interface QueryAnswer {
  readonly batch: {
    readonly entityResults?: readonly {
      readonly entity: {
        readonly key: { readonly path: readonly { readonly name?: string }[] }
        readonly properties?: Readonly<
          Record<string, { readonly stringValue?: string; readonly integerValue?: string }>
        >
      }
    }[]
  }
}

export async function countKinds(
  project: string,
  database: string,
  signal: AbortSignal,
): Promise<readonly KindCount[]> {
  const answer = await ask(project, database, { kind: [{ name: '__Stat_Kind__' }], limit: kindsMax }, signal)
  return (answer.batch.entityResults ?? []).map(({ entity: { properties = {} } }) => {
    const number = (name: string): number => Number(properties[name]?.integerValue ?? 0)
    return {
      kind: properties['kind_name']?.stringValue ?? '',
      entities: number('count'),
      entityBytes: number('entity_bytes'),
      indexRows: number('builtin_index_count') + number('composite_index_count'),
      indexBytes: number('builtin_index_bytes') + number('composite_index_bytes'),
    }
  })
}

export async function listKinds(project: string, database: string): Promise<readonly KindCount[]> {
  const keys = { projection: [{ property: { name: '__key__' } }], kind: [{ name: '__kind__' }], limit: kindsMax }
  const answer = await ask(project, database, keys)
  const names = (answer.batch.entityResults ?? []).map(({ entity }) => entity.key.path.at(-1)?.name ?? '')
  return names.filter((kind) => !/^__.*__$/.test(kind)).map((kind) => ({ kind }))
}

function ask(project: string, database: string, query: unknown, signal?: AbortSignal): Promise<QueryAnswer> {
  const body = {
    ...(database === '' ? {} : { databaseId: database }),
    partitionId: { projectId: project, ...(database === '' ? {} : { databaseId: database }) },
    query,
  }
  return postJson<QueryAnswer>(`/v1/projects/${pathPart(project)}:runQuery`, body, { signal })
}
