/** A composite index that a query lacks: its entry for index.yaml, and a button that creates it. */
import type { IndexListReport, IndexReport } from '@sixtables/gateway/browser'
import type { ComponentChildren } from 'preact'
import { postJson } from '../api/http.ts'
import type { DatabaseName } from '../model/scope.ts'
import { Button } from './controls.tsx'
import { CopyButton } from './copy-button.tsx'
import { safeLines } from './parts.tsx'
import { type Action, useAction } from './use-server.ts'

/** Members of `POST /emulator/indexes/create`: a definition, or the text of an index.yaml. */
export type CreateIndex = Action<[Readonly<Record<string, unknown>>]>

export function useCreateIndex({ project, database }: DatabaseName, onCreated: () => void): CreateIndex {
  return useAction(async (definition: Readonly<Record<string, unknown>>) => {
    const body = { project, database, ...definition }
    const answer = await postJson<IndexReport | IndexListReport>('/emulator/indexes/create', body)
    onCreated()
    const created = 'indexes' in answer ? answer.indexes : [answer]
    if (created.length === 0) return 'All of these indexes are there already.'
    return created.map(({ words, state }) => `${words} is ${state}.`).join(' ')
  })
}

type MissingIndexProps = Readonly<{ words: string; yaml: string; create: CreateIndex; children: ComponentChildren }>

export function MissingIndex({ words, yaml, create, children }: MissingIndexProps) {
  return (
    <section class="missing-index warn text panel my-2" aria-label={`Missing: ${words}`}>
      {children}
      <pre class="ground">{safeLines(yaml)}</pre>
      <p class="toolbar">
        <Button
          label="Create it"
          disabled={create.isBusy}
          aria-label={`Create ${words}`}
          onClick={() => create.run({ yaml })}
        />
        <CopyButton text={yaml} label="Copy for index.yaml" />
      </p>
    </section>
  )
}
