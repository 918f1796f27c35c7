/**
 * Data: the entities of a database, browsed by kind and asked by query, as they are and while they change.
 *
 *   address ─▶ place ─▶ statement ─▶ results          a run, a sort and a choice of columns change the address
 */
import { GqlError, printGql, type Statement } from '@sixtables/gateway/browser'
import { useEffect, useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { ConnectClient, CopyButton, putLine } from '../../components/copy-button.tsx'
import {
  EntityActions,
  EntityDialogs,
  type EntityDialogsProps,
  type OpenDialog,
} from '../../components/entity-dialogs.tsx'
import { EmptyState, safeText } from '../../components/parts.tsx'
import { CommitsUntold, isShared } from '../../components/shared-store.tsx'
import { caught } from '../../model/caught.ts'
import { noteQuery } from '../../model/kept-queries.ts'
import { formatKeyPath, parseKeyPath } from '../../model/key-text.ts'
import { navigate, type PageProps } from '../../model/route.ts'
import { statementIn, wholeKind } from '../../model/statements.ts'
import { addressOfPlace, addressOfQuery, type Go, movedTo, type Place, placeOf } from './address.ts'
import { type Catalog, useCatalog } from './catalog.ts'
import { QueryPanel } from './query-panel.tsx'
import type { Column } from './results.ts'
import { AggregateView, ResultsView, Tools } from './results-view.tsx'
import { ScopePanel } from './scope-panel.tsx'

export default function DataPage({ route }: PageProps) {
  const place = placeOf(route)
  const catalog = useCatalog(place)
  const hasQuery = place.kind !== '' || place.gql !== undefined
  useFirstPlace(place, catalog, hasQuery)
  return (
    <section class="page data-page stack">
      <ScopePanel place={place} catalog={catalog} />
      <div class="data-main stack">
        <CommitsUntold />
        {place.project !== '' && hasQuery ? (
          <Query key={JSON.stringify([place.project, place.database, place.namespace])} {...{ place, catalog }} />
        ) : (
          catalog.isLoaded &&
          catalog.kinds.length === 0 && (
            <>
              <h1>Data</h1>
              <EmptyData place={place} />
            </>
          )
        )}
      </div>
    </section>
  )
}

/** An address without a project, or without a kind and a query, gets the first one that there is. */
function useFirstPlace(place: Place, { databases, kinds }: Catalog, hasQuery: boolean): void {
  const own = server.value?.project
  const found = databases.find(({ project }) => project === own) ?? databases[0]
  const [kind] = kinds
  useEffect(() => {
    if (place.project === '' && found !== undefined) {
      navigate(addressOfPlace({ ...place, ...found }), { replace: true })
    } else if (place.project !== '' && !hasQuery && kind !== undefined) {
      navigate(addressOfPlace({ ...place, kind }), { replace: true })
    }
  }, [place.project, place.database, place.namespace, hasQuery, found?.project, kind])
}

/** A database without entities: how a client connects, how to seed, and ways to make the first entity here. */
function EmptyData({ place }: { readonly place: Place }) {
  const [dialog, setDialog] = useState<OpenDialog | undefined>(undefined)
  const address = server.value?.address ?? location.host
  const project = place.project || (server.value?.project ?? 'demo')
  const put = putLine(project)
  return (
    <EmptyState title={place.namespace === '' ? 'No data yet' : 'No data in this namespace'}>
      <p>
        {isShared() ? '' : 'Entities appear here as soon as a program writes them. '}Point the client library of your
        program at this server:
      </p>
      <ConnectClient project={project} />
      <p class="mt-4">Or write the first entity from a terminal, or a whole fixture:</p>
      <pre>
        {put}
        {'\n'}npx sixtables seed --endpoint {address} --project {project} fixture.yaml
      </pre>
      <CopyButton text={put} label="Copy the first line" />
      <div class="mt-4">
        {place.project !== '' && <EntityActions onDialog={setDialog} />}
        <PlaceDialogs place={place} dialog={dialog} onClose={() => setDialog(undefined)} />
      </div>
    </EmptyState>
  )
}

function Query({ place, catalog }: { readonly place: Place; readonly catalog: Catalog }) {
  const [met, setMet] = useState<readonly Column[]>([])
  const [runs, setRuns] = useState(0)
  const [isChanged, setChanged] = useState(false)
  const [dialog, setDialog] = useState<OpenDialog | undefined>(undefined)
  const gql = place.gql ?? printGql(wholeKind(place.kind))
  const read = readStatement(gql)
  const kind = read instanceof GqlError ? place.kind : kindOf(read)
  const go: Go = (to, options) => navigate(addressOfPlace({ ...place, ...to }), options)
  /** Goes to the address of a query, which runs it; the same one runs again. */
  const run = (text: string): void => {
    setRuns((count) => count + 1)
    const asked = readStatement(text)
    const to = asked instanceof GqlError ? '' : kindOf(asked)
    const columns = to === place.kind ? place.columns : undefined
    const query = { ...place, kind: to, gql: text === printGql(wholeKind(to)) ? undefined : text, columns }
    noteQuery({ address: addressOfQuery(query), gql: text })
    navigate(addressOfPlace(query))
  }
  const close = (): void => {
    setDialog(undefined)
    if (place.opened !== undefined) go({ opened: undefined }, { replace: true })
  }
  const query = { address: addressOfQuery(place), gql }
  const shared = { place, query, isChanged, runs, go, onDialog: setDialog }
  return (
    <>
      <PlaceDialogs place={place} dialog={dialog} onClose={close} />
      <QueryPanel scope={place} gql={gql} kinds={catalog.kinds} met={met} onRun={run} onChanged={setChanged}>
        <h1 class="cut" style={{ maxWidth: '24ch' }}>
          {kind === '' ? 'Query' : safeText(kind)}
        </h1>
      </QueryPanel>
      {read instanceof GqlError ? (
        <>
          <Tools {...shared} />
          <p class="muted">The query has a mistake, so nothing was run.</p>
        </>
      ) : read.type === 'aggregate' ? (
        <AggregateView {...shared} statement={read} />
      ) : (
        <ResultsView {...shared} statement={read} onMet={setMet} onRun={run} />
      )}
    </>
  )
}

type PlaceDialogsProps = Pick<EntityDialogsProps, 'dialog' | 'onClose'> & { readonly place: Place }

/** The entity that the address names is in the editor. A new one of another kind is shown among its own. */
function PlaceDialogs({ place, dialog, onClose }: PlaceDialogsProps) {
  const { project, database, namespace, kind, opened } = place
  const showKind = (key: string): void => {
    const created = parseKeyPath(key).at(-1)?.kind ?? ''
    if (created !== kind) navigate(addressOfPlace(movedTo(place, { kind: created })))
  }
  return (
    <EntityDialogs
      scope={{ project, database, namespace }}
      dialog={opened === undefined ? dialog : { type: 'edit', key: opened }}
      newKey={kind === '' ? '' : formatKeyPath([{ kind }])}
      kind={kind || undefined}
      onClose={onClose}
      onCreated={showKind}
    />
  )
}

const kindOf = (statement: Statement): string => (statement.type === 'select' ? statement : statement.over).kind ?? ''

const readStatement = (gql: string): Statement | GqlError => caught(GqlError, () => statementIn(gql))
