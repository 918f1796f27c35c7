/** The page without an entity: a key written by hand, or a new entity. */

import { useState } from 'preact/hooks'
import { Button, Form } from '../../components/controls.tsx'
import { EntityActions, EntityDialogs, type OpenDialog } from '../../components/entity-dialogs.tsx'
import { EmptyState } from '../../components/notes.tsx'
import { SafeText } from '../../components/text.tsx'
import { keyProblem } from '../../model/key-text.ts'
import { addressOf, navigate } from '../../model/route.ts'
import { addressOfEntity, type EntityScope } from '../../model/scope.ts'

interface FindEntityProps {
  readonly scope: EntityScope
  readonly entityKey: string
  /** Why the key in the address is none; empty without one. */
  readonly problem: string
}

/** A key by hand, where the address has none. */
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
      <KeyForm
        scope={chosen}
        entityKey={entityKey}
        problem={problem}
        onScope={(part) => setTyped({ ...typed, ...part })}
      />
      <EmptyState title="No entity is chosen">
        <p>
          Write its key, or choose it in <a href={addressOf('data')}>Data</a>. This page then shows its rows in the six
          tables, the log of its entity group, and its versions.
        </p>
      </EmptyState>
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
    <Form class="entity-find" onSubmit={open}>
      <label>
        Key
        <input
          class="mono"
          value={key}
          placeholder='User:"ada"/ToDo:5'
          spellcheck={false}
          aria-invalid={found !== ''}
          aria-describedby="entity-find-problem"
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      {(['project', 'database', 'namespace'] as const).map((part) => (
        <label key={part}>
          {part[0]?.toUpperCase() + part.slice(1)}
          <input
            value={scope[part]}
            placeholder={part === 'project' ? '' : '(default)'}
            spellcheck={false}
            onInput={(event) => onScope({ [part]: event.currentTarget.value })}
          />
        </label>
      ))}
      <Button label="Show" look="primary" />
      <p id="entity-find-problem" class="field-problem" role="status">
        <SafeText text={found} />
      </p>
    </Form>
  )
}
