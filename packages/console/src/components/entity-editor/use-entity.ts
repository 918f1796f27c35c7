/**
 * The stored entity behind an editor: the state that the draft is based on, and the newest one when another writer changed it.
 *
 *   base ──another commit──▶ newer ──accept()──▶ base
 *
 * A commit of another writer is told while the editor is open, also one that came while the server was away.
 */

import type { CommitReport } from '@sixtables/engine'
import { useState } from 'preact/hooks'
import { entityQuery, readEntity, type StoredEntity } from '../../api/entities.ts'
import type { EntityScope } from '../../model/scope.ts'
import { useEvents, useLoaded } from '../use-server.ts'

export type EntityBase = ReturnType<typeof useEntity>

/** @param isNew - there is nothing stored to watch */
export function useEntity(scope: EntityScope, key: string, isNew: boolean) {
  const query = entityQuery(scope, key)
  const [first, setFirst] = useState<StoredEntity | undefined>(undefined)
  const [base, setBase] = useState<StoredEntity | undefined>(undefined)
  const { value, error, reload } = useLoaded(key === '' ? undefined : query, {
    read: (_, options) => readEntity(scope, key, options),
  })
  if (first === undefined && value !== undefined) {
    setFirst(value)
    setBase(value)
  }
  const isWatched = !isNew && key !== ''
  useEvents<{ readonly commit?: CommitReport }>(isWatched ? `/emulator/commits?${query}&list=100&rows=0` : undefined, {
    onEvent: ({ commit }) => {
      const isOlder = BigInt(commit?.version ?? 0) <= BigInt(base?.version ?? 0)
      if (commit?.changes.some((change) => change.key === key) === true && !isOlder) reload()
    },
    onOpened: reload,
  })
  return {
    base,
    /** Another state than `base` is stored now. */
    newer: isWatched && base !== undefined && value?.version !== base.version ? value : undefined,
    // Once there is a draft, the editor stays, and asks again when the server is back.
    error: base === undefined ? error : undefined,
    /** There was nothing when it was first read. */
    isMissing: first !== undefined && first.properties === undefined,
    /** Looks whether another state is stored. */
    look: reload,
    /** The draft is based on the newest state from now on. */
    accept: () => setBase(value),
  }
}
