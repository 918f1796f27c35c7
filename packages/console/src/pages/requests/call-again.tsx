/** A call made again: as code to copy, or at once. */

import type { MessageReport, RequestDetailReport } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { type PlainAnswer, sendByHand } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { useAction } from '../../components/use-server.ts'
import { copiedAs, type Form, forms } from '../../model/copy-as.ts'
import { dataPath } from '../../model/data-methods.ts'
import { jsonText } from '../../model/json-text.ts'
import { durationInWords } from '../../model/numbers.ts'
import { visibleLines } from '../../model/visible-text.ts'

interface Sent extends PlainAnswer {
  readonly ms: number
}

export function CallAgain({
  detail,
  request,
}: {
  readonly detail: RequestDetailReport
  readonly request: MessageReport
}) {
  const { method, project, transaction, began, response } = detail
  if (project === undefined || request.json === undefined) return null
  if (request.cut !== undefined) {
    return <p class="muted">The request is not kept whole, so it cannot be copied or sent again.</p>
  }
  const call = { origin: location.origin, project, method, request: request.json, response: response?.json }
  return (
    <div class="call-again line-above mt-3 pt-3 justify-start stack">
      <div class="toolbar">
        <span>Copy as</span>
        {forms.map((form) => (
          <CopyButton key={form} label={form} text={copiedAs(form, call)} />
        ))}
      </div>
      <Again path={dataPath(project, method)} json={request.json} />
      {transaction !== undefined && began !== true && (
        <p class="muted">The call belongs to a transaction, which is over by now or still holds its locks.</p>
      )}
      <Code call={call} />
    </div>
  )
}

function Again({ path, json }: { readonly path: string; readonly json: unknown }) {
  const [sent, setSent] = useState<Sent | undefined>(undefined)
  const send = useAction(async () => {
    const beganAt = performance.now()
    const answer = await sendByHand(path, jsonText(json))
    setSent({ ...answer, ms: performance.now() - beganAt })
  })
  return (
    <>
      <Button label="Send again" disabled={send.isBusy} onClick={() => send.run()} />
      <ErrorNote error={send.error} what="The call could not be sent" />
      {sent !== undefined && (
        <div role="status">
          <p>
            <span class={`tag ${sent.status === 200 ? 'good' : 'bad'}`}>{sent.status}</span> answered in{' '}
            {durationInWords(sent.ms)}, seen from here. The call is in the list, too.
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard */}
          <pre tabIndex={0}>{visibleLines(sent.text)}</pre>
        </div>
      )}
    </>
  )
}

function Code({ call }: { readonly call: Parameters<typeof copiedAs>[1] }) {
  const [form, setForm] = useState<Form>('curl')
  return (
    <details>
      <summary>Code</summary>
      <div class="toolbar my-2">
        {forms.map((one) => (
          <Button label={one} key={one} aria-pressed={one === form} onClick={() => setForm(one)} />
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard */}
      <pre tabIndex={0} data-form={form}>
        {copiedAs(form, call)}
      </pre>
    </details>
  )
}
