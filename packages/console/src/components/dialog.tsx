/** A dialog of the browser's own kind: it keeps the focus inside, Escape closes it, and the focus goes back to where it was. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './controls.tsx'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
  /** Escape, or the button "Close". */
  readonly onClose: () => void
  readonly isWide?: boolean
}

export function Dialog({ title, children, actions, onClose, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // It closes while its element is still in the page: else the focus would not go back.
  useLayoutEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    dialog.showModal()
    return () => dialog.close()
  }, [])
  const cancel = (event: Event): void => {
    event.preventDefault()
    onClose()
  }
  return (
    <dialog
      ref={element}
      class="dialog box shadow text p-0"
      style={{ width: isWide ? '1100px' : '560px' }}
      aria-labelledby={titleId}
      onCancel={cancel}
    >
      <header class="dialog-head ground line-below py-2 px-4 row spread">
        <h2 id={titleId}>{title}</h2>
        <Button label="Close" look="quiet" onClick={onClose} />
      </header>
      <div class="p-4">{children}</div>
      {actions !== undefined && <footer class="dialog-actions ground line-above py-2 px-4 toolbar">{actions}</footer>}
    </dialog>
  )
}

interface DeleteQuestionProps extends Omit<DialogProps, 'actions'> {
  readonly keep: string
  readonly onDelete: () => void
}

/** Asks before something is deleted, and closes with either answer; the children say what is lost. */
export function DeleteQuestion({ keep, onDelete, ...rest }: DeleteQuestionProps) {
  const confirm = (): void => {
    rest.onClose()
    onDelete()
  }
  const actions = (
    <>
      <Button label={keep} onClick={rest.onClose} />
      <Button label="Delete" look="danger" onClick={confirm} />
    </>
  )
  return <Dialog actions={actions} {...rest} />
}
