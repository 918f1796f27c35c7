/**
 * Entity, inside: its versions, the rows that it has in each of the tables, its children, and the log of its entity group.
 *
 *   #/entity/{project}/{key}?database=&namespace=&version=&with=
 */
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { Button } from '../../components/controls.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { EntityEditor } from '../../components/entity-dialogs.tsx'
import { EmptyState, ErrorNote, safeText, scopeWords } from '../../components/parts.tsx'
import { CommitsUntold } from '../../components/shared-store.tsx'
import { formatKeyPath, keyProblem, parseKeyPath } from '../../model/key-text.ts'
import { addressOf, navigate, type PageProps } from '../../model/route.ts'
import { addressOfEntity, addressOfRows, scopeIn, scopeQuery } from '../../model/scope.ts'
import { ChildrenSection, FindEntity } from './find-entity.tsx'
import { LogSection, RowsSection } from './rows-and-log.tsx'
import { type InsideProps, useInside } from './use-inside.ts'
import { VersionsSection } from './versions-section.tsx'

export default function EntityPage({ route }: PageProps) {
  const [, key = ''] = route.parts
  const scope = scopeIn(route, server.value?.project)
  const problem = key === '' ? '' : keyProblem(key)
  if (problem !== undefined) return <FindEntity scope={scope} entityKey={key} problem={problem} />
  // Another entity begins with nothing of the one before it.
  return <Inside key={JSON.stringify([scope, key])} scope={scope} entityKey={key} query={route.query} />
}

function Inside(props: InsideProps) {
  const { scope, entityKey } = props
  const { inside, children } = useInside(scope, entityKey)
  const { rows, versions } = inside.value ?? {}
  const [editing, setEditing] = useState<'edit' | 'create' | 'duplicate' | undefined>(undefined)
  const isThere = versions !== undefined && versions.at(-1)?.operation === 'put'
  return (
    <section class="page entity-page">
      <Head scope={scope} entityKey={entityKey} isThere={isThere} onEdit={setEditing} />
      <CommitsUntold />
      <ErrorNote error={inside.error} what="The entity could not be read" />
      <ErrorNote error={children.error} what="Its children could not be read" />
      {versions?.length === 0 && (
        <EmptyState title="There is no such entity">
          <p>
            It was never written, or the log has forgotten it. Create one with this key, and this page shows what it
            became.
          </p>
          <Button label="Create it…" onClick={() => setEditing('create')} />
        </EmptyState>
      )}
      {versions !== undefined && versions.length > 0 && <VersionsSection {...props} versions={versions} />}
      {rows !== undefined && children.value !== undefined && (
        <div class="entity-columns columns">
          <RowsSection rows={rows.rows} />
          <div>
            <ChildrenSection {...props} first={children.value} />
            <LogSection log={rows.log} />
          </div>
        </div>
      )}
      {editing !== undefined && (
        <EntityEditor
          scope={scope}
          entityKey={entityKey}
          mode={editing}
          onClose={() => setEditing(undefined)}
          onSaved={(key) => {
            if (key !== entityKey) navigate(addressOfEntity(scope, key))
          }}
        />
      )}
    </section>
  )
}

interface HeadProps extends Omit<InsideProps, 'query'> {
  readonly isThere: boolean
  readonly onEdit: (mode: 'edit' | 'duplicate') => void
}

function Head({ scope, entityKey, isThere, onEdit }: HeadProps) {
  const path = parseKeyPath(entityKey)
  const parents = path.slice(0, -1).map((_, i) => formatKeyPath(path.slice(0, i + 1)))
  return (
    <>
      <header class="page-head">
        <h1>
          {parents.map((parent, i) => (
            <Fragment key={parent}>
              <a href={addressOfEntity(scope, parent)}>{safeText(formatKeyPath(path.slice(i, i + 1)))}</a>/
            </Fragment>
          ))}
          {safeText(formatKeyPath(path.slice(-1)))}
        </h1>
        <div class="toolbar">
          <CopyButton text={entityKey} label="Copy the key" />
          <Button label="Edit…" look="primary" disabled={!isThere} onClick={() => onEdit('edit')} />
          <Button label="Duplicate…" disabled={!isThere} onClick={() => onEdit('duplicate')} />
          <a class="button" href={addressOf('data', [scope.project, path.at(-1)?.kind ?? ''], scopeQuery(scope))}>
            Its kind in Data
          </a>
          <a class="button" href={addressOfRows(scope, entityKey)}>
            In the six tables
          </a>
        </div>
      </header>
      <p class="muted">In {scopeWords(scope)}</p>
    </>
  )
}
