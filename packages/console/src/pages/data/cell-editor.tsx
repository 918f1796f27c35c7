/** A value edited in its cell: Enter, Tab and leaving it keep the change, Escape takes it back. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { ValueInputs } from '../../components/entity-editor/value-inputs.tsx'
import type { EntityScope } from '../../model/scope.ts'
import type { ValueForm } from '../../model/typed-json.ts'
import { problemIn } from '../../model/value-problems.ts'

/** The bar of changes tells what is wrong. */
export const editProblemId = 'edit-problem'

export interface CellEditorProps {
  readonly scope: EntityScope
  /** Property. */
  readonly name: string
  readonly form: ValueForm
  readonly onChange: (form: ValueForm) => void
  /** @param isKept - whether the change stays */
  readonly onEnd: (isKept: boolean) => void
}

export function CellEditor({ scope, name, form, onChange, onEnd }: CellEditorProps) {
  const box = useRef<HTMLSpanElement>(null)
  // The next key is for the value already: the grid has keys of its own.
  useLayoutEffect(() => {
    const input = box.current?.querySelector<HTMLInputElement>('input, select, textarea')
    input?.focus()
    input?.select?.()
  }, [])
  const onKeyDown = (event: KeyboardEvent): void => {
    const isEnd = event.key === 'Escape' || event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)
    // Enter may also end a word of an input method.
    if (!isEnd || event.isComposing || event.target instanceof HTMLButtonElement) return
    event.preventDefault()
    box.current?.closest<HTMLElement>('[role="grid"]')?.focus()
    onEnd(event.key !== 'Escape')
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys and clicks of the control within end here
    <span
      ref={box}
      class="cell-editor ground shadow absolute"
      onKeyDown={onKeyDown}
      onDblClick={(event) => event.stopPropagation()}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && box.current?.contains(relatedTarget) === false) onEnd(true)
      }}
    >
      <ValueInputs
        value={form}
        name={name}
        context={{ problems: new Map(), showsMeanings: false, home: scope }}
        problemId={problemIn(form) && editProblemId}
        onChange={(part) => onChange({ ...form, ...part })}
      />
    </span>
  )
}
