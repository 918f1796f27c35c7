/** The results that the user has selected; they stay so while the table scrolls and its rows change. */
import { useMemo, useState } from 'preact/hooks'
import type { EntityResult } from '../../api/datastore.ts'
import { formatKeyPath } from '../../model/key-text.ts'

export interface Selection {
  readonly rows: readonly EntityResult[]
  readonly idOf: (row: EntityResult) => string
  readonly has: (row: EntityResult) => boolean
  readonly toggle: (row: EntityResult) => void
  readonly clear: () => void
}

/** @param scopeName - a selection ends when it becomes another one */
export function useSelection(scopeName: string): Selection {
  const [{ of, chosen }, setChosen] = useState({ of: scopeName, chosen: new Map<string, EntityResult>() })
  return useMemo(() => {
    const present = of === scopeName ? chosen : new Map<string, EntityResult>()
    return {
      rows: [...present.values()],
      idOf,
      has: (row) => present.has(idOf(row)),
      toggle(row) {
        const next = new Map(present)
        if (!next.delete(idOf(row))) next.set(idOf(row), row)
        setChosen({ of: scopeName, chosen: next })
      },
      clear: () => setChosen({ of: scopeName, chosen: new Map() }),
    }
  }, [scopeName, of, chosen])
}

function idOf({ entity }: EntityResult): string {
  return formatKeyPath(entity.key.path)
}
