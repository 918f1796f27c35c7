/** The past of an entity: a slider over its versions, one of them in full, and its difference to another. */
import type { VersionReport } from '@sixtables/engine'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { readEntity, type StoredEntity } from '../../api/entities.ts'
import { Button, Select } from '../../components/controls.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { DifferenceList } from '../../components/difference-list.tsx'
import { ErrorNote, LongText, Panel, safeText, useFirst } from '../../components/parts.tsx'
import { Table } from '../../components/table.tsx'
import { useLoaded } from '../../components/use-server.ts'
import { differencesOf, plainWords, typeInWords } from '../../model/entity-difference.ts'
import { navigate } from '../../model/route.ts'
import { addressOfEntity } from '../../model/scope.ts'
import { formOf } from '../../model/typed-json.ts'
import { StateTag } from './rows-and-log.tsx'
import type { InsideProps } from './use-inside.ts'

interface VersionsSectionProps extends InsideProps {
  /** Oldest first, at least one. */
  readonly versions: readonly VersionReport[]
}

type KnownVersions = Map<string, StoredEntity>

/** The address names two versions; without them they are the newest, and the one before the chosen one. */
export function VersionsSection(props: VersionsSectionProps) {
  const { scope, entityKey, query, versions } = props
  const last = versions.length - 1
  const [chosen, compared] = [query.get('version') ?? undefined, query.get('with') ?? undefined]
  const asked = versions.findIndex(({ version }) => version === chosen)
  const at = asked < 0 ? last : asked
  const found = versions.findIndex(({ version }) => version === compared)
  const [shown, with_] = [versions[at], versions[found < 0 ? at - 1 : found]]
  const known: KnownVersions = useRef(new Map()).current
  const state = useVersion(props, known, shown?.version)
  const otherState = useVersion(props, known, with_?.version)
  if (shown === undefined) return null
  const go = (version: string | undefined, other: string | undefined): void =>
    navigate(addressOfEntity(scope, entityKey, { version, with: other }), { replace: true })
  const choose = (i: number): void =>
    go(i === last ? undefined : versions[i]?.version, found < 0 ? undefined : compared)
  const words = `version ${shown.version} of ${shown.committedAt}, ${at + 1} of ${versions.length}`
  return (
    <Panel
      title="Versions"
      more={<span class="muted">{versions.length === 1 ? 'one is kept' : `${versions.length} are kept`}</span>}
    >
      {last > 0 && (
        <div class="row" style={{ maxWidth: '760px' }}>
          <Button label="‹" aria-label="Older version" disabled={at === 0} onClick={() => choose(at - 1)} />
          <input
            class="grow p-0"
            type="range"
            aria-label="Version"
            aria-valuetext={words}
            min={0}
            max={last}
            value={at}
            onInput={(event) => choose(Number(event.currentTarget.value))}
          />
          <Button label="›" aria-label="Newer version" disabled={at === last} onClick={() => choose(at + 1)} />
        </div>
      )}
      <p class="my-2">
        <time dateTime={shown.committedAt}>{shown.committedAt}</time> {words.slice(0, words.indexOf(' of '))}, {at + 1}{' '}
        of {versions.length} <StateTag state={shown.state} /> {at === last && <span class="tag">newest</span>}
      </p>
      <ReadTime version={shown} />
      <div class="entity-versions halves columns">
        <VersionState state={state} isDeleted={shown.operation === 'delete'} />
        <div class="sideways">
          {compareWith(versions, found < 0 ? '' : (compared ?? ''), (version) => go(chosen, version))}
          <DifferenceTo before={otherState} after={state} hasOther={with_ !== undefined} />
        </div>
      </div>
    </Panel>
  )
}

/** A list of a thousand is no choice. */
const offeredMax = 100

/** @param compared - empty = the version before the chosen one */
function compareWith(
  versions: readonly VersionReport[],
  compared: string,
  onChange: (version: string | undefined) => void,
) {
  const offered = versions.filter(({ version }, i) => i >= versions.length - offeredMax || version === compared)
  return (
    <Select
      class="entity-compare"
      label="Difference to"
      value={compared}
      options={[
        ['', 'the version before it'],
        ...offered.map(({ version, committedAt }) => [version, `${version}, ${committedAt.slice(11, 23)}`] as const),
      ]}
      onChange={(version) => onChange(version || undefined)}
    />
  )
}

function ReadTime({ version: { readTime, readable } }: { readonly version: VersionReport }) {
  if (readTime === undefined) return <p class="muted">A lookup finds this version.</p>
  if (!readable) return <p class="muted">It is too old for a read; the log still has it.</p>
  return (
    <p class="muted">
      A lookup with <code>read_time</code> <code>{readTime}</code> finds this version. <CopyButton text={readTime} />
    </p>
  )
}

/**
 * A version never changes, and is asked for until it is known: the log may drop it meanwhile. One that was refused is asked for again when the
 * list of versions is read again. So is each of them when the server is back: another one would not know those of the list before.
 */
function useVersion({ scope, entityKey, versions }: VersionsSectionProps, known: KnownVersions, version = '') {
  const isListed = useMemo(() => epoch.value, [versions]) === epoch.value
  const isAsked = isListed && version !== '' && !known.has(version)
  const { error, reload } = useLoaded<StoredEntity>(isAsked ? version : undefined, {
    async read(one, options) {
      const entity = await readEntity(scope, entityKey, { ...options, version: one })
      known.set(one, entity)
      return entity
    },
  })
  useEffect(() => {
    if (error !== undefined) reload()
  }, [versions])
  return { value: known.get(version), error }
}

type LoadedVersion = ReturnType<typeof useVersion>

function VersionState({
  state: { value: entity, error },
  isDeleted,
}: Readonly<{ state: LoadedVersion; isDeleted: boolean }>) {
  const properties = Object.entries(entity?.properties ?? {})
  const { shown, rest } = useFirst(properties, 'properties')
  if (error !== undefined) return <ErrorNote error={error} what="The version could not be read" />
  if (isDeleted) return <p>This commit deleted the entity.</p>
  if (entity !== undefined && properties.length === 0) return <p>It had no properties.</p>
  return (
    <div class="entity-state breaks sideways" aria-busy={entity === undefined}>
      <Table
        rows={shown}
        keyOf={([name]) => name}
        columns={[
          { title: 'Property', cell: ([name]) => safeText(name) },
          { title: 'Type', cell: ([, value]) => <span class="muted">{typeInWords(formOf(value))}</span> },
          { title: 'Value', cell: ([, value]) => <LongText text={plainWords(formOf(value))} /> },
        ]}
      />
      {rest}
    </div>
  )
}

type DifferenceToProps = Readonly<Record<'before' | 'after', LoadedVersion> & { hasOther: boolean }>

function DifferenceTo({ before, after, hasOther }: DifferenceToProps) {
  if (!hasOther) return <p class="muted">The log has no version before it.</p>
  if (before.error !== undefined) return <ErrorNote error={before.error} what="The other version could not be read" />
  if (before.value === undefined || after.value === undefined) return <p class="muted">…</p>
  const differences = differencesOf(before.value.properties ?? {}, after.value.properties ?? {})
  return <DifferenceList differences={differences} before="The other" after="This version" />
}
