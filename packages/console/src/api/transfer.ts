/** Fixtures, and managed exports and imports, over HTTP. Operations go on at the server when no page waits for them. */
import type { FixtureFormat, OperationJson, ProgressEvent } from '@sixtables/gateway/browser'
import { type EntityScope, given } from '../model/scope.ts'
import { dataOf, wrote } from './events.ts'
import { ApiError, type CallOptions, partsOf, postJson, ServerGone, send } from './http.ts'

/** @param kind - of CSV rows without a key */
type Fixture = Readonly<{ text: string; format: FixtureFormat; name: string; kind?: string }>

export interface Seeded {
  readonly entities: number
  readonly keys: readonly string[]
}

/** @param onEntities - told now and then how many are written */
export async function loadFixture(
  { project, database }: EntityScope,
  fixture: Fixture,
  { signal, onEntities }: CallOptions & { readonly onEntities: (entities: number) => void },
): Promise<Seeded> {
  const body = { project, database, ...fixture }
  const response = await send('POST', '/emulator/fixtures?progress=true', body, { signal })
  try {
    for await (const data of dataOf(response)) {
      const event = JSON.parse(data) as ProgressEvent
      if ('report' in event) return event.report as Seeded
      if ('error' in event) throw new ApiError(event.error.status, event.error.message)
      onEntities(event.progress.rows)
    }
    throw new ServerGone('The server went away while it imported.')
  } finally {
    // Also where it ended early: what was written by then stays.
    wrote()
  }
}

/** Without kinds all of them; `isOneNamespace`: only the namespace of the scope. */
type Choice = Readonly<{ format: FixtureFormat; kinds: readonly string[]; isOneNamespace: boolean }>

/** The entities as a file. @param onBytes - told how many bytes came so far */
export async function downloadFixture(
  scope: EntityScope,
  { format, kinds, isOneNamespace }: Choice,
  { signal, onBytes }: CallOptions & { readonly onBytes: (bytes: number) => void },
): Promise<Blob> {
  const query = new URLSearchParams({ project: scope.project, database: scope.database, format })
  for (const kind of kinds) query.append('kind', kind)
  if (isOneNamespace) query.append('namespace', scope.namespace)
  const response = await send('GET', `/emulator/fixtures?${query}`, undefined, { signal })
  const parts: BlobPart[] = []
  let bytes = 0
  for await (const part of partsOf(response.body)) {
    parts.push(part)
    bytes += part.length
    onBytes(bytes)
  }
  return new Blob(parts, { type: response.headers.get('Content-Type') ?? 'text/plain' })
}

export interface Operation extends Pick<OperationJson, 'name' | 'done' | 'error'> {
  readonly response?: { readonly outputUrl?: string }
  readonly metadata: {
    readonly common?: { readonly state: string }
    readonly progressEntities?: { readonly workCompleted?: string; readonly workEstimated?: string }
  }
}

export interface ManagedTransfer {
  readonly direction: 'export' | 'import'
  /** A path on the server's machine, or a gs:// place. */
  readonly directory: string
  /** Name of the export's folder below it; for an import it may be part of the directory. */
  readonly name: string
  /** Empty = all. */
  readonly kinds: readonly string[]
}

export function startTransfer({ project, database }: EntityScope, transfer: ManagedTransfer): Promise<Operation> {
  const { direction, directory, name, kinds } = transfer
  return postJson(`/emulator/v1/projects/${encodeURIComponent(project)}:${direction}?wait=false`, {
    database: `projects/${project}/databases/${database}`,
    export_directory: directory,
    ...given({ export_name: name }),
    kinds,
  })
}

/** `/v1/projects/p/operations/5`, each part encoded. */
export function operationPath({ name }: Operation): string {
  return `/v1/${name.split('/').map(encodeURIComponent).join('/')}`
}
