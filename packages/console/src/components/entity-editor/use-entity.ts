/**
 * The stored entity behind an editor: the state that the draft is based on, and the newest one when another writer changed it.
 *
 *   base ──another commit──▶ newer ──accept()──▶ base
 *
 * U1  A commit of another writer is told while the editor is open, also one that came while the server was away.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { type EntityScope, entityQuery, readEntity, type StoredEntity } from '../../api/entities.ts'
import { openEvents } from '../../api/events.ts'
import { NewestAnswer } from '../../model/newest-answer.ts'

interface CommitEvent {
  readonly commit?: { readonly version: string; readonly changes: readonly { readonly key: string }[] }
}

export interface EntityBase {
  readonly base: StoredEntity | undefined
  /** Another state than `base` is stored now. */
  readonly newer: StoredEntity | undefined
  readonly error: Error | undefined
  /** There was nothing when it was first read. */
  readonly isMissing: boolean
  /** Looks whether another state is stored. */
  readonly look: () => void
  /** The draft is based on the newest state from now on. */
  readonly accept: () => void
}

/** @param isNew - there is nothing stored to watch */
export function useEntity(scope: EntityScope, key: string, isNew: boolean): EntityBase {
  const [base, setBase] = useState<StoredEntity | undefined>(undefined)
  const [newer, setNewer] = useState<StoredEntity | undefined>(undefined)
  const [isMissing, setIsMissing] = useState(false)
  const [error, setError] = useState<Error | undefined>(undefined)
  const known = useRef<StoredEntity | undefined>(undefined)
  const answers = useRef(new NewestAnswer()).current
  const query = entityQuery(scope, key)

  const look = (signal?: AbortSignal): void => {
    if (key === '') return
    const isNewest = answers.ask()
    readEntity(scope, key, { signal }).then(
      (found) => {
        if (!isNewest()) return
        setError(undefined)
        if (known.current === undefined) {
          known.current = found
          setBase(found)
          setIsMissing(found.properties === undefined)
        } else if (!isNew) setNewer(found.version === known.current.version ? undefined : found)
      },
      (reason: Error) => {
        // Once there is a draft, the editor stays, and asks again when the server is back.
        if (signal?.aborted !== true && known.current === undefined) setError(reason)
      },
    )
  }
  const current = epoch.value
  useEffect(() => {
    const abort = new AbortController()
    look(abort.signal)
    return () => abort.abort()
  }, [query, current])
  useEffect(() => {
    if (isNew || key === '') return
    return openEvents<CommitEvent>(`/emulator/commits?${query}&list=100&rows=0`, {
      onEvent: ({ commit }) => {
        const isOlder = BigInt(commit?.version ?? 0) <= BigInt(known.current?.version ?? 0)
        if (commit?.changes.some((change) => change.key === key) === true && !isOlder) look()
      },
      onOpened: () => look(),
    })
  }, [query, isNew])
  const accept = (): void => {
    if (newer === undefined) return
    known.current = newer
    setBase(newer)
    setNewer(undefined)
  }
  return { base, newer, error, isMissing, look: () => look(), accept }
}
