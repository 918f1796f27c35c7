/** The kinds of a database with their figures: small ones are counted after writes, of others the last count is shown with its time. */
import { useEffect, useRef } from 'preact/hooks'
import {
  countAll,
  countInWords,
  countMax,
  countSmall,
  type KindCount,
  type KindCounts,
  kindsMax,
} from '../../api/kinds.ts'
import { Button } from '../../components/controls.tsx'
import { ConnectClient } from '../../components/copy-button.tsx'
import { ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { FigureTable, Scroll } from '../../components/table.tsx'
import { useAction, useLoaded, useSoon } from '../../components/use-server.ts'
import { bytesInWords, counted, entitiesInWords, timeWords } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import type { DatabaseName } from '../../model/scope.ts'

const restMs = 1000

/** `commits` changes with those that were seen; `shown` databases are counted beside each other. */
type DatabaseKindsProps = DatabaseName & Readonly<{ commits: number; shown: number }>

export function DatabaseKinds(props: DatabaseKindsProps) {
  const { project, database } = props
  const { found, error, isCounting, count } = useKindCounts(props)
  return (
    <Panel
      class="database-kinds"
      title={safeText(`${project} / ${database || '(default)'}`)}
      more={
        <>
          <span class="muted">{found === undefined ? 'counting…' : summaryOf(found)}</span>
          <Button label={isCounting ? 'Counting…' : 'Count now'} look="quiet" disabled={isCounting} onClick={count} />
        </>
      }
    >
      <ErrorNote error={error} what="The kinds could not be counted" />
      {found !== undefined && found.kinds.length > 0 && (
        <Scroll label={`Kinds of ${project}`}>
          <FigureTable
            columns={['Kind', 'Entities', 'Bytes', 'Index rows', 'Index bytes']}
            rows={found.kinds.map((one) => ({
              key: one.kind,
              name: (
                <a href={addressOf('data', [project, one.kind], { database: database || undefined })}>
                  {safeText(one.kind)}
                </a>
              ),
              figures: figuresOf(one),
            }))}
          />
        </Scroll>
      )}
      {found?.kinds.length === 0 && props.shown === 1 && <NoEntities />}
    </Panel>
  )
}

export function NoEntities() {
  return (
    <>
      <p>Client libraries find this server by their environment:</p>
      <ConnectClient />
    </>
  )
}

interface Found extends KindCounts {
  readonly countedAt: number | undefined
}

/** What is known: figures of now for small kinds, those of the last count for others. */
function useKindCounts({ project, database, commits, shown }: DatabaseKindsProps) {
  const scope = { project, database, namespace: '' }
  const last = useRef<Found | undefined>(undefined)
  const known = (counts: KindCounts): Found => {
    if (!counts.isWhole) return merged(counts, last.current)
    last.current = { ...counts, countedAt: Date.now() }
    return last.current
  }
  const {
    value: found,
    error,
    reload,
    set,
  } = useLoaded<Found>(JSON.stringify([project, database]), {
    read: async (_, options) => known(await countSmall(scope, options)),
  })
  const all = useAction(async () => set(known(await countAll(scope, {}))))
  const soon = useSoon(restMs * shown, reload)
  useEffect(() => {
    if (commits > 0) soon()
  }, [commits])
  return { found, error: all.error ?? error, isCounting: all.isBusy, count: () => all.run() }
}

/** Kinds of now; a large one with the figures that it had when all were counted. */
function merged({ kinds }: KindCounts, last: Found | undefined): Found {
  const before = new Map(last?.kinds.map((one) => [one.kind, one]))
  const isLarge = ({ entities }: KindCount): boolean => entities > countMax
  return {
    kinds: kinds.map((one) => (isLarge(one) ? (before.get(one.kind) ?? one) : one)),
    isWhole: false,
    countedAt: last?.countedAt,
  }
}

function summaryOf({ kinds, isWhole, countedAt }: Found): string {
  if (kinds.length === 0) return 'No entities.'
  const at = countedAt === undefined ? '' : `counted at ${timeWords(countedAt)}`
  if (!isWhole) return at === '' ? 'Large kinds are counted when you ask.' : `Large kinds ${at}.`
  const entities = kinds.reduce((sum, kind) => sum + kind.entities, 0)
  const many = kinds.length === kindsMax ? ` of the first ${kindsMax} kinds` : ''
  return `${entitiesInWords(entities)}${many}; ${at}`
}

function figuresOf({ entities, entityBytes, indexRows, indexBytes }: KindCount): readonly string[] {
  const bytes = (value: number | undefined): string => (value === undefined ? '–' : bytesInWords(value))
  const many = entityBytes === undefined ? countInWords(entities) : counted(entities)
  const rows = indexRows === undefined ? '–' : counted(indexRows)
  return [many, bytes(entityBytes), rows, bytes(indexBytes)]
}
