/**
 * Parts that every page has: text of users, boxes with a name, errors and a way on, the end of an action, a view with nothing to show yet.
 *
 * Text of users is isolated from the text around it, with control characters made visible. A long text or list is shown in part until the
 * reader asks for the rest: an entity may have a MiB of text in one value, and thousands of properties.
 */
import type { ComponentChildren, ComponentProps } from 'preact'
import { useId, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'
import { counted } from '../model/numbers.ts'
import type { EntityScope } from '../model/scope.ts'
import { cut } from '../model/value-words.ts'
import { visibleLines, visibleText } from '../model/visible-text.ts'
import { Button } from './controls.tsx'
import type { Action } from './use-server.ts'

interface ErrorNoteProps {
  readonly error: Error | undefined
  /** The action that failed: `The query could not be run`. */
  readonly what?: string
  readonly onRetry?: () => void
}

export function ErrorNote({ error, what, onRetry }: ErrorNoteProps) {
  if (error === undefined) return null
  return (
    <div class="error-note panel bad my-2 breaks" role="alert">
      {what !== undefined && <p class="m-0 strong">{what}</p>}
      <p class="m-0">
        {error instanceof ApiError && <code>{error.status}</code>} {safeLines(error.message)}
      </p>
      {onRetry !== undefined && <Button label="Try again" onClick={onRetry} />}
    </div>
  )
}

type Ended = Pick<Action<readonly never[]>, 'error' | 'done'>

/** @param props - the action that may fail, in words: `The snapshot could not be taken` */
export function ActionNote({ action: { error, done }, what }: Readonly<{ action: Ended; what: string }>) {
  return (
    <>
      <ErrorNote error={error} what={what} />
      <p role="status" class="action-done good-text my-2">
        {done}
      </p>
    </>
  )
}

type ProblemProps = Omit<ComponentProps<'p'>, 'class'> & Readonly<{ text: string | undefined; class?: string }>

export function Problem({ text, class: style = '', ...rest }: ProblemProps) {
  if (text === undefined) return null
  return (
    <p class={`field-problem small breaks bad-text ${style}`} {...rest}>
      {safeText(text)}
    </p>
  )
}

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty-state muted breaks">
      <h2 class="text">{title}</h2>
      {children}
    </div>
  )
}

export const safeText = (text: string) => <bdi>{visibleText(text)}</bdi>

/** {@link safeText} that may have several lines: messages and queries. */
export const safeLines = (text: string) => <bdi>{visibleLines(text)}</bdi>

/** `project demo, database (default), namespace (default)` */
export const scopeWords = ({ project, database, namespace }: EntityScope) => (
  <>
    project {safeText(project)}, database {safeText(database || '(default)')}, namespace{' '}
    {safeText(namespace || '(default)')}
  </>
)

const charactersMax = 2000
const itemsMax = 100

export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  if (isWhole || text.length <= charactersMax) return safeText(text)
  return (
    <>
      {safeText(cut(text, charactersMax))}{' '}
      <Button label={`Show all ${counted(text.length)} characters`} look="quiet" onClick={() => setWhole(true)} />
    </>
  )
}

export function useFirst<T>(items: readonly T[], name: string) {
  const [isWhole, setWhole] = useState(false)
  if (isWhole || items.length <= itemsMax) return { shown: items, rest: null }
  return {
    shown: items.slice(0, itemsMax),
    rest: <Button label={`Show all ${counted(items.length)} ${name}`} look="quiet" onClick={() => setWhole(true)} />,
  }
}

interface PanelProps {
  readonly title: ComponentChildren
  readonly more?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

export function Panel({ title, more, class: style = '', children }: PanelProps) {
  const id = useId()
  return (
    <section class={`panel ${style}`} aria-labelledby={id}>
      <header class="page-head">
        <h2 id={id} style={{ fontSize: '14px' }}>
          {title}
        </h2>
        {more}
      </header>
      {children}
    </section>
  )
}
