/**
 * The reports on one entity, kept up to date: read anew after each commit in its entity group, and when the server is back.
 *
 * UI1  What is shown is of the newest read that was answered.            packages/console/test/entity.test.ts
 */
import type { LogReport, RowReport, VersionReport } from '@sixtables/engine'
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { type EntityScope, entityQuery, readRows } from '../../api/entities.ts'
import { openEvents } from '../../api/events.ts'
import { getJson } from '../../api/http.ts'
import { formatKeyPath, parseKeyPath } from '../../model/key-text.ts'
import { NewestAnswer } from '../../model/newest-answer.ts'

export interface Inside {
  readonly rows: { readonly rows: readonly RowReport[]; readonly log: LogReport } | undefined
  readonly versions: readonly VersionReport[] | undefined
  readonly error: Error | undefined
}

const recordsShown = 100

/** Commits that come together are read once. */
const restMs = 60

export function useInside(scope: EntityScope, key: string): Inside {
  const [found, setFound] = useState<Inside>({ rows: undefined, versions: undefined, error: undefined })
  const query = entityQuery(scope, key)
  const current = epoch.value
  useEffect(() => {
    const abort = new AbortController()
    const { signal } = abort
    let timer: ReturnType<typeof setTimeout> | undefined
    const answers = new NewestAnswer()
    const read = async (): Promise<void> => {
      timer = undefined
      const isNewest = answers.ask()
      try {
        const [rows, { versions }] = await Promise.all([
          readRows<NonNullable<Inside['rows']>>(`${query}&records=${recordsShown}`, { signal }),
          getJson<{ versions: readonly VersionReport[] }>(`/emulator/inspect/versions?${query}`, { signal }),
        ])
        if (isNewest()) setFound({ rows, versions, error: undefined })
      } catch (error) {
        if (!signal.aborted && isNewest()) setFound((before) => ({ ...before, error: error as Error }))
      }
    }
    const soon = (): void => {
      timer ??= setTimeout(() => void read(), restMs)
    }
    const root = formatKeyPath(parseKeyPath(key).slice(0, 1))
    const close = openEvents(`/emulator/commits?${entityQuery(scope, root)}&list=0`, { onEvent: soon, onOpened: soon })
    void read()
    return () => {
      clearTimeout(timer)
      abort.abort()
      close()
    }
  }, [query, current])
  return found
}
