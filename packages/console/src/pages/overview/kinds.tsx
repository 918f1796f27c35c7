/**
 * The kinds of a database with entities, bytes and index rows.
 *
 * The figures are those of the statistics kinds, which the server puts together from a walk over all entities. So they are counted by
 * themselves only where that is quick:
 *
 *   at first      with {@link quickMs} of patience; beyond it the kinds are listed without figures, and a button counts
 *   after writes  again; all databases together at most a twentieth of the time
 *   a slow count  is given up, and tried again later and later: after twice the rest each time
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { FigureTable } from '../../components/table.tsx'
import { bytesInWords, counted, durationInWords } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import { FirstClient } from './first-client.tsx'
import { countKinds, type KindCount, kindsMax, listKinds } from './kind-counts.ts'

const quickMs = 400
const restFactor = 20
const restMsMin = 1000

export interface DatabaseKindsProps {
  readonly project: string
  readonly database: string
  /** Changes with the commits that were seen. */
  readonly commits: number
  /** Number of databases that are counted beside each other. */
  readonly shown: number
}

interface Counted {
  readonly kinds: readonly KindCount[]
  /** Time that the count took; absent when the kinds are only listed. */
  readonly tookMs?: number
  readonly countedAt?: Date
}

export function DatabaseKinds(props: DatabaseKindsProps) {
  const { project, database } = props
  const { shown, error, isCounting, count } = useKindCounts(props)
  return (
    <section class="panel database-kinds" aria-label={`Database ${database || '(default)'} of ${project}`}>
      <header class="toolbar">
        <h3>
          <SafeText text={`${project} / ${database || '(default)'}`} />
        </h3>
        <span class="muted">{shown === undefined ? 'counting…' : summaryOf(shown)}</span>
        <Button label={isCounting ? 'Counting…' : 'Count now'} look="quiet" disabled={isCounting} onClick={count} />
      </header>
      {error !== undefined && <ErrorNote error={error} what="The kinds could not be counted" />}
      {shown !== undefined && shown.kinds.length > 0 && (
        <KindTable kinds={shown.kinds} project={project} database={database} />
      )}
      {shown?.kinds.length === 0 && props.shown === 1 && <FirstClient />}
    </section>
  )
}

interface KindCounts {
  readonly shown: Counted | undefined
  readonly error: Error | undefined
  /** A count that was asked for is under way. */
  readonly isCounting: boolean
  /** Counts now, however long it takes. */
  readonly count: () => void
}

function useKindCounts({ project, database, commits, shown: databases }: DatabaseKindsProps): KindCounts {
  const [shown, setShown] = useState<Counted | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  const [isCounting, setCounting] = useState(false)
  const running = useRef<AbortController | undefined>(undefined)
  /** Time before which nothing is counted without being asked for, and the rest before it. */
  const rest = useRef({ until: 0, ms: 0 })
  /** The commits that the newest figures know of. */
  const known = useRef<number | undefined>(undefined)
  const [ended, setEnded] = useState(0)

  /** @param patienceMs - absent: asked for, and in the place of a count that was not */
  const count = async (patienceMs: number | undefined): Promise<void> => {
    running.current?.abort()
    const abort = new AbortController()
    running.current = abort
    setCounting(patienceMs === undefined)
    const late = patienceMs === undefined ? undefined : setTimeout(() => abort.abort(), patienceMs)
    try {
      const result = await countNow(project, database, abort.signal)
      rest.current = restOf(Math.max(restMsMin, result.tookMs * restFactor * databases))
      known.current = commits
      setShown(result)
      setError(undefined)
    } catch (reason) {
      if (running.current !== abort) return
      rest.current = restOf(Math.max(rest.current.ms * 2, quickMs * restFactor * databases))
      if (!abort.signal.aborted) setError(reason as Error)
      else if (patienceMs !== undefined) {
        const kinds = await listKinds(project, database).catch(() => [])
        setShown((before) => before ?? { kinds })
      }
    } finally {
      clearTimeout(late)
      if (running.current === abort) {
        running.current = undefined
        setCounting(false)
        setEnded((before) => before + 1)
      }
    }
  }

  useEffect(() => {
    setShown(undefined)
    rest.current = { until: 0, ms: 0 }
    void count(quickMs)
    return () => {
      running.current?.abort()
      running.current = undefined
    }
  }, [project, database, epoch.value])
  useEffect(() => {
    // A count that is under way does not know of the commit; its end comes here again.
    if (running.current !== undefined || known.current === commits) return
    const timer = setTimeout(() => void count(quickMs), Math.max(200, rest.current.until - performance.now()))
    return () => clearTimeout(timer)
  }, [commits, ended])
  return { shown, error, isCounting, count: () => void count(undefined) }
}

const restOf = (ms: number) => ({ until: performance.now() + ms, ms })

async function countNow(project: string, database: string, signal: AbortSignal) {
  const began = performance.now()
  const kinds = await countKinds(project, database, signal)
  return { kinds, tookMs: performance.now() - began, countedAt: new Date() }
}

function summaryOf({ kinds, tookMs, countedAt }: Counted): string {
  if (tookMs === undefined || countedAt === undefined) {
    return 'A count would read all entities, and takes a moment here; no figures yet.'
  }
  if (kinds.length === 0) return 'No entities.'
  const entities = kinds.reduce((sum, kind) => sum + (kind.entities ?? 0), 0)
  const many = kinds.length === kindsMax ? ` of the first ${kindsMax} kinds` : ''
  return `${counted(entities)} ${entities === 1 ? 'entity' : 'entities'}${many}; counted at ${countedAt.toLocaleTimeString('en-GB')} in ${durationInWords(tookMs)}`
}

interface KindTableProps {
  readonly kinds: readonly KindCount[]
  readonly project: string
  readonly database: string
}

function KindTable({ kinds, project, database }: KindTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard.
    <section class="scroll" tabIndex={0} aria-label={`Kinds of ${project}`}>
      <FigureTable
        columns={['Kind', 'Entities', 'Bytes', 'Index rows', 'Index bytes']}
        rows={kinds.map(({ kind, entities, entityBytes, indexRows, indexBytes }) => ({
          key: kind,
          name: (
            <a href={addressOf('data', [project, kind], { database: database === '' ? undefined : database })}>
              <SafeText text={kind} />
            </a>
          ),
          figures: [
            numberOr(entities, counted),
            numberOr(entityBytes, bytesInWords),
            numberOr(indexRows, counted),
            numberOr(indexBytes, bytesInWords),
          ],
        }))}
      />
    </section>
  )
}

const numberOr = (value: number | undefined, words: (value: number) => string): string =>
  value === undefined ? '–' : words(value)
