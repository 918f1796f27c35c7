/**
 * The query of Data: as a form and as GQL, of which either edits the other. It runs when the user says so.
 *
 * Q1  Form and GQL are two views of one text: the form's changes are printed into it, and the form shows what the text says.
 * Q2  The page knows when the query as it stands is not the one that was run: then nothing can be deleted by it.
 *                                                                                     packages/console/test/data.test.ts
 */

import { GqlError, printGql } from '@sixtables/gateway/browser'
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Editor } from '../../components/editor/editor.tsx'
import { SafeLines, SafeText } from '../../components/safe-text.tsx'
import { useShortcut } from '../../components/shortcut.ts'
import { useNewValue } from '../../components/use-new-value.ts'
import { formOf, NoForm, type QueryForm, statementOf, WrongInput } from '../../model/query-form.ts'
import type { EntityScope } from '../../model/scope.ts'
import { statementIn } from '../../model/statements.ts'
import { sampledProperties } from './catalog.ts'
import { FilterForm } from './filter-form.tsx'

export interface QueryPanelProps {
  readonly scope: EntityScope
  /** The text that is run. */
  readonly gql: string
  readonly kinds: readonly string[]
  /** Properties met in the results. */
  readonly properties: readonly string[]
  readonly onRun: (gql: string) => void
  /** Whether the query as it stands is another one than `gql`, or none. */
  readonly onChanged: (isChanged: boolean) => void
}

export function QueryPanel({ scope, gql, kinds, properties, onRun, onChanged }: QueryPanelProps) {
  const draft = useDraft(gql)
  const { text, read, wrong, form } = draft
  const [isGql, setGql] = useState(() => !('filters' in readForm(gql)))
  const [focusCount, setFocusCount] = useState(0)
  const mistake = read instanceof GqlError ? read : undefined
  const known = useProperties(scope, text, properties)
  const isWrong = !isGql && wrong !== undefined
  const isChanged = isWrong || text.trim() !== gql.trim()
  useLayoutEffect(() => onChanged(isChanged), [isChanged, onChanged])
  const run = (): void => {
    if (mistake !== undefined || isWrong) return
    onRun(draft.given())
  }
  useShortcut('/', () => {
    setGql(true)
    setFocusCount((count) => count + 1)
  })
  useShortcut('Ctrl+Enter', run)
  return (
    <section class="query-panel" aria-label="Query">
      <div class="toolbar">
        <Tabs isGql={isGql} onChange={setGql} />
        <Button label="Run" look="primary" title="Ctrl+Enter" disabled={mistake !== undefined} onClick={run} />
        {isChanged && mistake === undefined && <span class="muted">changed, not run yet</span>}
      </div>
      {isGql ? (
        <Editor
          language="gql"
          label="GQL"
          value={text}
          focusCount={focusCount}
          mistakeAt={mistake?.at}
          onRun={run}
          onChange={draft.setText}
          names={{ kinds, properties: () => known }}
        />
      ) : form === undefined ? (
        <p class="muted">
          {read instanceof NoForm
            ? `The filters cannot show ${read.reason}; this query stays GQL.`
            : 'The GQL has a mistake; mend it there.'}
        </p>
      ) : (
        <>
          <FilterForm form={form} properties={known} wrong={wrong} onChange={draft.setForm} onRun={run} />
          <pre class="query-text">
            <code>
              <SafeLines text={text} />
            </code>
          </pre>
        </>
      )}
      {mistake !== undefined && <Mistake mistake={mistake} />}
    </section>
  )
}

function Mistake({ mistake }: { readonly mistake: GqlError }) {
  return (
    <p class="query-mistake" role="status">
      <SafeText text={mistake.message} />
    </p>
  )
}

function Tabs({ isGql, onChange }: { readonly isGql: boolean; readonly onChange: (isGql: boolean) => void }) {
  return (
    <fieldset class="query-tabs">
      <legend class="visually-hidden">Write the query as</legend>
      <Button label="Filters" aria-pressed={!isGql} onClick={() => onChange(false)} />
      <Button label="GQL" aria-pressed={isGql} onClick={() => onChange(true)} />
    </fieldset>
  )
}

interface Draft {
  readonly text: string
  readonly read: QueryForm | NoForm | GqlError
  /** The form as it is being filled in, even while it makes no query; `undefined` when it cannot show the text. */
  readonly form: QueryForm | undefined
  readonly wrong: WrongInput | undefined
  readonly setText: (text: string) => void
  readonly setForm: (form: QueryForm) => void
  /** The text, to be run now. */
  readonly given: () => string
}

/** Q1. Begins anew with each query that is run from elsewhere. */
function useDraft(gql: string): Draft {
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
    form: typed ?? (read instanceof GqlError || read instanceof NoForm ? undefined : read),
    setText(next) {
      setText(next)
      setTyped(undefined)
    },
    given() {
      gives(text.trim())
      return text.trim()
    },
    setForm(form) {
      setTyped(form)
      const { gql: made } = printed(form)
      if (made !== undefined) setText(made)
    },
  }
}

function readForm(text: string): QueryForm | NoForm | GqlError {
  try {
    return formOf(statementIn(text))
  } catch (error) {
    if (error instanceof GqlError) return error
    throw error
  }
}

/** The text of a form, or the input that makes none. */
function printed(form: QueryForm | undefined): { readonly gql?: string; readonly wrong?: WrongInput } {
  if (form === undefined) return {}
  try {
    return { gql: printGql(statementOf(form)) }
  } catch (error) {
    if (error instanceof WrongInput) return { wrong: error }
    throw error
  }
}

/** Properties of the kind that the text names: those met, or those of a few of its entities. */
function useProperties(scope: EntityScope, text: string, met: readonly string[]): readonly string[] {
  const [sampled, setSampled] = useState<readonly string[]>([])
  const kind = useMemo(() => /\bFROM\s+`?([^\s`]+)/i.exec(text)?.[1] ?? '', [text])
  const { project, database, namespace } = scope
  const isMet = met.length > 0
  useEffect(() => {
    let isGone = false
    setSampled([])
    if (kind === '' || project === '' || isMet) return
    sampledProperties({ project, database, namespace }, kind).then(
      (found) => {
        if (!isGone) setSampled(found)
      },
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [project, database, namespace, kind, isMet])
  return useMemo(() => [...new Set([...met, ...sampled])], [met, sampled])
}
