/** The page without an entity: a key written by hand, one of the first entities, or a new one; and entities as links to their pages. */
import { useState } from 'preact/hooks'
import { type FirstEntities as First, readFirst } from '../../api/entities.ts'
import { Button, Field, Form, TextField } from '../../components/controls.tsx'
import { DatabaseFields } from '../../components/databases.tsx'
import { EntityActions, EntityDialogs, type OpenDialog } from '../../components/entity-dialogs.tsx'
import { EmptyState, ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { useCommits, useLoaded } from '../../components/use-server.ts'
import { formatKeyPath, keyProblem, parseKeyPath } from '../../model/key-text.ts'
import { entitiesInWords } from '../../model/numbers.ts'
import { addressOfChildren } from '../../model/query-form.ts'
import { addressOf, navigate } from '../../model/route.ts'
import { addressOfEntity, type EntityScope } from '../../model/scope.ts'
import { valueWords } from '../../model/value-words.ts'

interface FindEntityProps {
  readonly scope: EntityScope
  readonly entityKey: string
  /** Why the key in the address is none; empty without one. */
  readonly problem: string
}

export function FindEntity({ scope, entityKey, problem }: FindEntityProps) {
  // What is typed. The server's own project, which stands beneath it, is known after its first answer.
  const [typed, setTyped] = useState<Partial<EntityScope>>({})
  const [dialog, setDialog] = useState<OpenDialog | undefined>(undefined)
  const chosen = { ...scope, ...typed }
  return (
    <section class="page entity-page">
      <header class="page-head">
        <h1>Entity</h1>
        <EntityActions onDialog={setDialog} />
      </header>
      <KeyForm {...{ entityKey, problem }} scope={chosen} onScope={(part) => setTyped({ ...typed, ...part })} />
      {chosen.project !== '' && <FirstEntities key={JSON.stringify(chosen)} scope={chosen} />}
      <EntityDialogs
        scope={chosen}
        dialog={dialog}
        onClose={() => setDialog(undefined)}
        onCreated={(key) => navigate(addressOfEntity(chosen, key))}
      />
    </section>
  )
}

interface KeyFormProps extends FindEntityProps {
  readonly onScope: (part: Partial<EntityScope>) => void
}

function KeyForm({ scope, entityKey, problem, onScope }: KeyFormProps) {
  const [key, setKey] = useState(entityKey)
  const [found, setFound] = useState(problem)
  const open = (): void => {
    const wrong = key === '' ? 'Write a key like ToDo:1 or User:"ada"/ToDo:5.' : keyProblem(key)
    setFound(wrong ?? '')
    if (wrong === undefined) navigate(addressOfEntity(scope, key))
  }
  return (
    <Form class="panel entity-find mb-3" onSubmit={open}>
      <div class="entity-key items-end stack" style={{ gridTemplateColumns: 'minmax(0, 1fr) auto' }}>
        <Field label="Key">
          <input
            class="mono"
            value={key}
            placeholder='User:"ada"/ToDo:5'
            spellcheck={false}
            aria-invalid={found !== ''}
            aria-describedby="entity-find-problem"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        <Button label="Show" look="primary" />
      </div>
      <p id="entity-find-problem" class="field-problem small breaks bad-text" role="status">
        {safeText(found)}
      </p>
      <div class="fields m-0">
        <DatabaseFields value={scope} onChange={({ project, database }) => onScope({ project, database })} />
        <TextField
          label="Namespace"
          value={scope.namespace}
          placeholder="(default)"
          isWhole
          onChange={(namespace) => onScope({ namespace })}
        />
      </div>
    </Form>
  )
}

const firstMax = 20
const restMs = 500

function FirstEntities({ scope }: { readonly scope: EntityScope }) {
  const { value, error, reload } = useLoaded<First>(JSON.stringify(scope), {
    read: (_, options) => readFirst(scope, undefined, firstMax, options),
  })
  useCommits(new URLSearchParams({ ...scope }).toString(), restMs, reload)
  if (value === undefined) return <ErrorNote error={error} what="The entities cannot be listed" onRetry={reload} />
  if (value.entities.length === 0) {
    return (
      <EmptyState title="No entity is here yet">
        <p>
          Create one, or put one with your program. Its page shows its properties in each version, its rows in the six
          tables, its children, and the log of its entity group.
        </p>
      </EmptyState>
    )
  }
  return (
    <Panel
      title={value.hasMore ? 'The first entities by key' : 'Entities'}
      more={<a href={addressOf('data')}>Find others in Data</a>}
    >
      <EntityList scope={scope} entities={value.entities} />
    </Panel>
  )
}

const propertiesShown = 3

type EntityListProps = Readonly<{ scope: EntityScope; entities: First['entities']; depth?: number }>

/** @param depth - elements at the begin of each path that are not shown */
function EntityList({ scope, entities, depth = 0 }: EntityListProps) {
  return (
    <ul>
      {entities.map(({ key: { path }, properties = {} }) => (
        <li key={formatKeyPath(path)} class="cut" style={{ paddingBlock: '3px' }}>
          <a href={addressOfEntity(scope, formatKeyPath(path))}>{safeText(formatKeyPath(path.slice(depth)))}</a>{' '}
          <span class="muted small ml-2">
            {safeText(
              Object.entries(properties)
                .slice(0, propertiesShown)
                .map(([name, value]) => `${name}: ${valueWords(value).words}`)
                .join(', '),
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

type ChildrenProps = Readonly<{ scope: EntityScope; entityKey: string; first: First }>

export function ChildrenSection({ scope, entityKey, first: { entities, hasMore } }: ChildrenProps) {
  const count = entitiesInWords(entities.length)
  return (
    <Panel
      title="Children"
      more={
        <>
          <span class="muted">{hasMore ? `the first ${count}` : entities.length === 0 ? 'none' : count}</span>
          {entities.length > 0 && <a href={addressOfChildren(scope, entityKey)}>All in Data</a>}
        </>
      }
    >
      {entities.length === 0 ? (
        <p class="muted">Entities whose key begins with this one are its children. They are in its entity group.</p>
      ) : (
        <EntityList {...{ scope, entities }} depth={parseKeyPath(entityKey).length} />
      )}
    </Panel>
  )
}
