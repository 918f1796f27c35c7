/**
 * Fixtures, and managed exports and imports, over HTTP. Operations go on at the server when no page waits for them.
 */
import type { EntityScope } from './entities.ts'
import { dataOf, wrote } from './events.ts'
import { ApiError, type CallOptions, getJson, pathPart, postJson, ServerGone, send } from './http.ts'

export type FixtureFormat = 'json' | 'yaml' | 'csv'

export interface Fixture {
  readonly text: string
  readonly format: FixtureFormat
  /** File name, for messages. */
  readonly name: string
  /** Kind of CSV rows without a key. */
  readonly kind?: string | undefined
}

export interface Seeded {
  readonly entities: number
  readonly keys: readonly string[]
}

/** As `POST /emulator/fixtures?progress=true` tells them; docs/reference/http.md has them. */
type LoadEvent =
  | { readonly progress: { readonly rows: number } }
  | { readonly report: Seeded }
  | { readonly error: { readonly message: string; readonly status: string } }

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
      const event = JSON.parse(data) as LoadEvent
      if ('report' in event) return event.report
      if ('error' in event) throw new ApiError(event.error.status, event.error.message)
      onEntities(event.progress.rows)
    }
    throw new ServerGone('The server went away while it imported.')
  } finally {
    // Also where it ended early: what was written by then stays.
    wrote()
  }
}

export interface FixtureChoice {
  readonly format: FixtureFormat
  /** Empty = all. */
  readonly kinds: readonly string[]
  /** Only the namespace of the scope. */
  readonly isOneNamespace: boolean
}

/** The entities as a file. @param onBytes - told how many bytes came so far */
export async function downloadFixture(
  scope: EntityScope,
  { format, kinds, isOneNamespace }: FixtureChoice,
  { signal, onBytes }: CallOptions & { readonly onBytes: (bytes: number) => void },
): Promise<Blob> {
  const query = new URLSearchParams({ project: scope.project, database: scope.database, format })
  for (const kind of kinds) query.append('kind', kind)
  if (isOneNamespace) query.append('namespace', scope.namespace)
  const response = await send('GET', `/emulator/fixtures?${query}`, undefined, { signal })
  const parts: BlobPart[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
    if (done || value === undefined) break
    parts.push(value as BlobPart)
    bytes += value.length
    onBytes(bytes)
  }
  return new Blob(parts, { type: response.headers.get('Content-Type') ?? 'text/plain' })
}

/** google.longrunning.Operation, as far as it is shown. */
export interface Operation {
  readonly name: string
  readonly done?: boolean
  readonly error?: { readonly code: number; readonly message: string }
  readonly response?: { readonly outputUrl?: string }
  readonly metadata: {
    readonly common?: { readonly state: string }
    readonly progressEntities?: Progress
    readonly progressBytes?: Progress
  }
}

interface Progress {
  readonly workCompleted?: string
  readonly workEstimated?: string
}

export interface ManagedTransfer {
  readonly direction: 'export' | 'import'
  /** A path on the server's machine, or a gs:// place. */
  readonly directory: string
  /** Name of the export's folder below it; for an import it may be part of the directory. */
  readonly name: string
  readonly kinds: readonly string[]
  readonly namespaces: readonly string[]
}

export function startTransfer(scope: EntityScope, transfer: ManagedTransfer): Promise<Operation> {
  const { direction, directory, name, kinds, namespaces } = transfer
  return postJson(`/emulator/v1/projects/${pathPart(scope.project)}:${direction}?wait=false`, {
    database: `projects/${scope.project}/databases/${scope.database}`,
    export_directory: directory,
    ...(name === '' ? {} : { export_name: name }),
    kinds,
    namespace_ids: namespaces,
  })
}

export function readOperation({ name }: Operation, options: CallOptions = {}): Promise<Operation> {
  return getJson(`/v1/${pathOf(name)}`, options)
}

export async function cancelOperation({ name }: Operation): Promise<void> {
  await postJson(`/v1/${pathOf(name)}:cancel`)
}

/** `projects/p/operations/5`, each part encoded. */
function pathOf(name: string): string {
  return name.split('/').map(pathPart).join('/')
}
