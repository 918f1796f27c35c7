/**
 * The state of an open editor: the draft, the write that it means, its preview, and what is being asked or done.
 *
 * While a write is under way nothing is typed: it would be lost when the editor closes.
 *
 * EE1  A save names the version that its draft is based on; it never takes the place of another writer's unseen.
 * EE2  Form and JSON are two views of one draft: to go from one to the other loses nothing.
 * EE3  Nothing is saved that the user was not told the rows of.          all: packages/console/test/entity.test.ts
 */
import type { CommitReport } from '@sixtables/engine'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { commitWrites, entityQuery, readEntity, type StoredEntity, type Write } from '../../api/entities.ts'
import { formatKeyPath, keyProblem } from '../../model/key-text.ts'
import type { EntityScope } from '../../model/scope.ts'
import { usePreview } from '../commit-preview.tsx'
import { useEvents, useLoaded } from '../use-server.ts'
import { type Draft, draftOf, keyOfDuplicate, type Reading, readDraft, refusedProperty } from './draft.ts'

export interface EditorOptions {
  readonly scope: EntityScope
  readonly entityKey: string
  readonly mode: 'edit' | 'create' | 'duplicate'
  readonly onClose: () => void
  readonly onSaved?: (key: string) => void
}

export type EditorState = ReturnType<typeof useEditor>

export function useEditor(options: EditorOptions, entity: EntityBase) {
  const { scope, entityKey, mode, onClose, onSaved } = options
  const { base, newer, look } = entity
  const [key, setKey] = useState(() => (mode === 'duplicate' ? keyOfDuplicate(entityKey) : entityKey))
  const [draft, setDraft] = useState<Draft>(() => draftOf(base?.properties ?? {}, 'form'))
  /** To the user, before something is lost. */
  const [question, ask] = useState<'delete' | 'discard' | undefined>(undefined)
  const [failure, setFailure] = useState<Error | undefined>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const reading = useMemo(() => readDraft(draft), [draft])
  const problemOfNew = key === '' ? 'Write a kind, such as ToDo, or a key.' : keyProblem(key)
  const problemOfKey = mode === 'edit' ? undefined : problemOfNew
  const baseVersion = base?.version ?? '0'
  const saved = problemOfKey === undefined ? writeOf(reading, mode, baseVersion) : undefined
  const write: Write | undefined = question === 'delete' ? { operation: 'delete', baseVersion } : saved
  const isPreviewed = newer === undefined && write !== undefined
  const { preview, refusal: refused } = usePreview(scope, isPreviewed ? [{ ...write, key }] : undefined)
  const isConflict = preview?.conflicts.includes(true) === true
  const refusal = failure ?? refused
  useEffect(() => {
    if (isConflict) look()
  }, [isConflict])
  useEffect(() => setFailure(undefined), [draft, key, question, base])

  const commit = async (): Promise<void> => {
    if (write === undefined || isBusy) return
    setIsBusy(true)
    try {
      const [written] = (await commitWrites(scope, [{ ...write, key }])).results
      if (written === undefined || written.conflictDetected === true) look()
      else {
        onSaved?.(written.key === undefined ? key : formatKeyPath(written.key.path))
        onClose()
      }
    } catch (error) {
      setFailure(error as Error)
    } finally {
      setIsBusy(false)
    }
  }
  return {
    ...{ key, setKey, draft, setDraft, reading, question, ask, preview, refusal, isBusy, commit },
    keyProblem: problemOfKey,
    refused: refusal && { property: refusedProperty(refusal.message), message: refusal.message },
    isReady: preview !== undefined && !isBusy && !isConflict,
    close: () => (isChanged(reading, base) && question !== 'discard' ? ask('discard') : onClose()),
  }
}

function writeOf({ properties }: Reading, mode: EditorOptions['mode'], baseVersion: string): Write | undefined {
  if (properties === undefined) return undefined
  return mode === 'edit' ? { operation: 'upsert', properties, baseVersion } : { operation: 'insert', properties }
}

function isChanged({ properties }: Reading, base: StoredEntity | undefined): boolean {
  const first = readDraft(draftOf(base?.properties ?? {}, 'form')).properties ?? {}
  return properties === undefined || JSON.stringify(properties) !== JSON.stringify(first)
}

export type EntityBase = ReturnType<typeof useEntity>

/**
 * The stored entity behind an editor: the state that the draft is based on, and the newest one when another writer changed it.
 *
 *   base ──another commit──▶ newer ──accept()──▶ base
 *
 * A commit of another writer is told while the editor is open, also one that came while the server was away.
 *
 * @param isNew - there is nothing stored to watch
 */
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
    look: reload,
    accept: () => setBase(value),
  }
}
