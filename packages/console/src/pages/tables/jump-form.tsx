/** Where in its tables the page looks. */

import { useState } from 'preact/hooks'
import { Button, Form } from '../../components/controls.tsx'
import { Problem } from '../../components/parts.tsx'
import { caught } from '../../model/caught.ts'
import { isComplete, KeyTextError, parseKeyPath } from '../../model/key-text.ts'

/** A kind or the key of an entity. */
export interface Target {
  readonly kind: string | undefined
  readonly key: string | undefined
}

export function JumpForm({ target, onJump }: { readonly target: Target; readonly onJump: (to: Target) => void }) {
  const [text, setText] = useState(target.key ?? target.kind ?? '')
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const submit = (): void => {
    const to = caught(KeyTextError, () => targetOf(text.trim()))
    setWrong(to instanceof KeyTextError ? to.message : undefined)
    if (!(to instanceof KeyTextError)) onJump(to)
  }
  return (
    <Form class="toolbar" onSubmit={submit}>
      <label>
        Go to{' '}
        <input
          type="search"
          style={{ width: '190px' }}
          value={text}
          placeholder="kind or key: ToDo:1"
          aria-invalid={wrong !== undefined}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <Button label="Go" />
      <Problem text={wrong} role="alert" class="whole" />
    </Form>
  )
}

function targetOf(text: string): Target {
  if (text === '') return { kind: undefined, key: undefined }
  const path = parseKeyPath(text)
  if (isComplete(path)) return { kind: undefined, key: text }
  if (path.length > 1)
    throw new KeyTextError('Give a kind alone, such as ToDo, or a whole key, such as User:"ada"/ToDo:5.')
  return { kind: path[0]?.kind, key: undefined }
}
