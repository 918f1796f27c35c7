/**
 * A text editor for GQL, JSON or JavaScript. A plain text area stands in its place until its code is loaded; then it takes over text and cursor.
 *
 *   Ctrl+Enter   runs, or saves                     Escape, then Tab   leaves it
 */
import type { KnownNames } from '@sixtables/gateway/browser'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { EditorOptions, MountedEditor } from './editor-view.ts'

type Given = Pick<EditorOptions, 'language' | 'label' | 'value'>
type Asked = Partial<Pick<EditorOptions, 'placeholder' | 'onChange' | 'onRun'>>

interface EditorProps extends Given, Asked {
  readonly names?: KnownNames
  /** Offset of a mistake in the text, which is marked. Its message is for the page to show. */
  readonly mistakeAt?: number | undefined
  /** Grows when the editor is to take the focus. */
  readonly focusCount?: number
}

const noNames: KnownNames = { kinds: [], properties: () => [] }

export function Editor(props: EditorProps) {
  const { label, value, mistakeAt, focusCount = 0 } = props
  const host = useRef<HTMLDivElement>(null)
  const [editor, setEditor] = useState<MountedEditor | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  // Texts that were typed and that the page has not given back yet: what it gives may be behind what is typed.
  const typed = useRef<readonly string[]>([])
  useEffect(() => mounted(host, latest, typed, setEditor), [])
  // With the drawing, not after it: a text that is typed in between would be replaced.
  useLayoutEffect(() => {
    const at = typed.current.lastIndexOf(value)
    typed.current = typed.current.slice(at + 1)
    if (at < 0) editor?.setValue(value)
  }, [editor, value])
  useEffect(() => editor?.setMistake(mistakeAt), [editor, mistakeAt, value])
  useEffect(() => {
    if (focusCount > 0) editor?.focus()
  }, [editor, focusCount])
  return (
    <div class="editor">
      <div ref={host} class="editor-host" />
      {editor === undefined && (
        <textarea
          class="mono"
          style={{ resize: 'none' }}
          rows={props.language === 'json' ? 16 : 1}
          aria-label={label}
          value={value}
          onInput={(event) => props.onChange?.(event.currentTarget.value)}
        />
      )}
    </div>
  )
}

function mounted(
  host: { readonly current: HTMLElement | null },
  latest: { readonly current: EditorProps },
  typed: { current: readonly string[] },
  setEditor: (editor: MountedEditor | undefined) => void,
): () => void {
  let editor: MountedEditor | undefined
  let isGone = false
  const mount = ({ mountEditor }: typeof import('./editor-view.ts')): void => {
    if (isGone || host.current === null) return
    const { language, label, value, placeholder = '' } = latest.current
    editor = mountEditor(host.current, {
      language,
      label,
      value,
      placeholder,
      onChange(text) {
        typed.current = [...typed.current, text]
        latest.current.onChange?.(text)
      },
      onRun: () => latest.current.onRun?.(),
      names: () => latest.current.names ?? noNames,
    })
    const waiting = document.activeElement
    if (waiting instanceof HTMLTextAreaElement && waiting.parentElement === host.current.parentElement) {
      editor.focus(waiting.selectionEnd)
    }
    setEditor(editor)
  }
  // Without its code, as when the server has just gone, the text area stays.
  import('./editor-view.ts').then(mount, () => undefined)
  return () => {
    isGone = true
    editor?.close()
  }
}
