/**
 * The query of Data: as a form and as GQL, of which either edits the other. It runs when the user says so.
 *
 * Form and GQL are two views of one text: the form's changes are printed into it, and the form shows what the text says. While the
 * query as it stands is not the one that was run, nothing can be deleted by it.
 */
import { GqlError, printGql } from '@sixtables/gateway/browser'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { Editor } from '../../components/editor/editor.tsx'
import { useNewValue, useShortcut } from '../../components/hooks.ts'
import { Problem } from '../../components/parts.tsx'
import { caught } from '../../model/caught.ts'
import { formOf, NoForm, type QueryForm, statementOf, WrongInput } from '../../model/query-form.ts'
import type { EntityScope } from '../../model/scope.ts'
import { statementIn } from '../../model/statements.ts'
import { emptyFilter, FilterForm } from './filter-form.tsx'
import { type Column, useColumns } from './results.ts'

interface QueryPanelProps {
  readonly scope: EntityScope
  readonly gql: string
  readonly kinds: readonly string[]
  readonly met: readonly Column[]
  readonly onRun: (gql: string) => void
  /** Whether the query as it stands is another one than `gql`, or none. */
  readonly onChanged: (isChanged: boolean) => void
  readonly children: ComponentChildren
}

export function QueryPanel({ scope, gql, kinds, met, onRun, onChanged, children }: QueryPanelProps) {
  const draft = useDraft(gql)
  const { text, read, wrong, form } = draft
  const [isGql, setGql] = useState(() => !('filters' in readForm(gql)))
  const [focusCount, setFocusCount] = useState(0)
  const mistake = read instanceof GqlError ? read : undefined
  const known = useColumns(scope, /\bFROM\s+`?([^\s`]+)/i.exec(text)?.[1] ?? '', met)
  const isWrong = !isGql && wrong !== undefined
  const isChanged = isWrong || text.trim() !== gql.trim()
  useLayoutEffect(() => onChanged(isChanged), [isChanged, onChanged])
  const run = (): void => {
    if (mistake === undefined && !isWrong) onRun(draft.given())
  }
  useShortcut('/', () => {
    setGql(true)
    setFocusCount((count) => count + 1)
  })
  useShortcut('Ctrl+Enter', run)
  return (
    <>
      <header class="toolbar data-head">
        {children}
        {tabsOf(isGql, setGql)}
        {!isGql && form !== undefined && (
          <Button
            label="Add a filter"
            onClick={() => draft.setForm({ ...form, filters: [...form.filters, emptyFilter] })}
          />
        )}
        <Button label="Run" look="primary" title="Ctrl+Enter" disabled={mistake !== undefined} onClick={run} />
      </header>
      <section class="query-panel column" aria-label="Query" style={{ gridRow: '3', '--editor-height': '30vh' }}>
        {isGql ? (
          <Editor
            language="gql"
            label="GQL"
            value={text}
            focusCount={focusCount}
            mistakeAt={mistake?.at}
            onRun={run}
            onChange={draft.setText}
            names={{ kinds, properties: () => known.map(({ property }) => property) }}
          />
        ) : form === undefined ? (
          <p class="muted">{noFilters(read)}</p>
        ) : (
          <FilterForm {...{ form, wrong, text }} columns={known} onChange={draft.setForm} onRun={run} />
        )}
        <Problem text={mistake?.message} role="status" />
        {mistake === undefined && isChanged && <span class="muted">changed, not run yet</span>}
      </section>
    </>
  )
}

const noFilters = (read: ReturnType<typeof readForm>): string =>
  read instanceof NoForm
    ? `The filters cannot show ${read.message}; this query stays GQL.`
    : 'The GQL has a mistake; mend it there.'

const tabsOf = (isGql: boolean, onChange: (isGql: boolean) => void) => (
  <fieldset class="query-tabs inline-flex no-box">
    <legend class="visually-hidden">Write the query as</legend>
    <Button label="Filters" aria-pressed={!isGql} onClick={() => onChange(false)} />
    <Button label="GQL" aria-pressed={isGql} onClick={() => onChange(true)} />
  </fieldset>
)

/** Begins anew with each query that is run from elsewhere. */
function useDraft(gql: string) {
  const [text, setText] = useState(gql)
  const [typed, setTyped] = useState<QueryForm | undefined>(undefined)
  const gives = useNewValue(gql, (next) => {
    setText(next)
    setTyped(undefined)
  })
  const read = useMemo(() => readForm(text), [text])
  const { wrong } = useMemo(() => printed(typed), [typed])
  return {
    text,
    read,
    wrong,
    /** The form as it is being filled in, even while it makes no query; `undefined` when it cannot show the text. */
    form: typed ?? (read instanceof GqlError || read instanceof NoForm ? undefined : read),
    setText(next: string) {
      setText(next)
      setTyped(undefined)
    },
    given() {
      gives(text.trim())
      return text.trim()
    },
    setForm(form: QueryForm) {
      setTyped(form)
      const { gql: made } = printed(form)
      if (made !== undefined) setText(made)
    },
  }
}

const readForm = (text: string): QueryForm | NoForm | GqlError => caught(GqlError, () => formOf(statementIn(text)))

function printed(form: QueryForm | undefined): { readonly gql?: string; readonly wrong?: WrongInput } {
  if (form === undefined) return {}
  const gql = caught(WrongInput, () => printGql(statementOf(form)))
  return gql instanceof WrongInput ? { wrong: gql } : { gql }
}
