/** One call: what was asked and answered, its rows and plan, and ways to make it again. */
import type { MessageReport, RequestDetailReport } from '@sixtables/gateway/browser'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { sendByHand } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNote, safeText } from '../../components/parts.tsx'
import { PlanTree } from '../../components/plan-tree.tsx'
import { FigureTable } from '../../components/table.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import { copiedAs, type Form, forms } from '../../model/copy-as.ts'
import { jsonText } from '../../model/json-text.ts'
import { bytesInWords, durationInWords, inWords } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import { addressOfEntity, dataPath } from '../../model/scope.ts'
import { visibleLines } from '../../model/visible-text.ts'
import { shortTransaction } from './transaction-bars.ts'
import type { UsedFeed } from './use-feed.ts'

export interface OpenCall {
  readonly used: UsedFeed
  /** Not a number = none. */
  readonly openId: number
  readonly onOpen: (id: number | undefined) => void
}

export function Detail({ id, onClose }: Readonly<{ id: number; onClose: () => void }>) {
  const { value, error } = useLoaded<RequestDetailReport>(`/emulator/requests/${id}`)
  const detail = error === undefined ? value : undefined
  return (
    <aside class="panel call-detail scrolls" aria-label={`Call ${id}`}>
      <header class="row spread">
        <h2>{detail === undefined ? `Call ${id}` : detail.method}</h2>
        <Button label="Close" look="quiet" onClick={onClose} />
      </header>
      <ErrorNote error={error} what="The call cannot be shown" />
      {detail !== undefined && <Whole detail={detail} />}
    </aside>
  )
}

function Whole({ detail }: { readonly detail: RequestDetailReport }) {
  const { request, response, plan, tables = [], waits = [], abortedBy, message } = detail
  return (
    <>
      <Facts detail={detail} />
      {message !== undefined && (
        <p class="panel bad breaks">
          <code>{detail.code}</code> {safeText(message)}
        </p>
      )}
      {waits.length > 0 && (
        <ul class="call-waits">
          {waits.map(({ afterMs, ms, row, for: holders }) => (
            <li key={afterMs}>
              Waited {durationInWords(ms)} for {holders.map(shortTransaction).join(', ')} at {safeText(row)}
            </li>
          ))}
        </ul>
      )}
      {abortedBy !== undefined && (
        <p>
          <span class="tag bad">victim</span> Its transaction gave way to {abortedBy.map(shortTransaction).join(', ')}.
        </p>
      )}
      {tables.length > 0 && (
        <>
          <h3 class="mt-3 mb-1">Rows</h3>
          <FigureTable
            class="whole"
            columns={['Table', 'Read', 'Written', 'Deleted']}
            rows={tables.map(({ table, rowsRead, rowsWritten, rowsDeleted }) => ({
              key: table,
              figures: [rowsRead, rowsWritten - rowsDeleted, rowsDeleted].map(inWords),
            }))}
          />
        </>
      )}
      {plan !== undefined && (
        <>
          <h3 class="mt-3 mb-1">Plan</h3>
          <div class="call-plan mono breaks">
            <PlanTree plan={plan} />
          </div>
        </>
      )}
      {request !== undefined && <CallAgain detail={detail} request={request} />}
      {request !== undefined && <Message title="Request" message={request} />}
      {response !== undefined && <Message title="Response" message={response} />}
    </>
  )
}

function Facts({ detail }: { readonly detail: RequestDetailReport }) {
  const { code, ms, at, protocol, project, database, namespaces, kinds, key, keys, transaction } = detail
  const entity = key !== undefined && project !== undefined && (
    <a href={addressOfEntity({ project, database: database ?? '', namespace: namespaces?.[0] ?? '' }, key)}>
      {safeText(key)}
    </a>
  )
  const facts: Readonly<Record<string, ComponentChildren>> = {
    Result: code,
    Began: at,
    Duration: durationInWords(ms),
    Protocol: { grpc: 'gRPC', json: 'HTTP, JSON', protobuf: 'HTTP, protobuf' }[protocol],
    Project: project,
    Database: database === undefined ? undefined : database || '(default)',
    Namespace: namespaces?.join(', '),
    Kind: kinds?.join(', '),
    Keys: keys,
    [keys === 1 ? 'Key' : 'First key']: entity || undefined,
    Transaction: transaction && <a href={addressOf('requests', [], { transaction })}>{transaction}</a>,
  }
  return (
    <dl class="call-facts mb-2 stack">
      {Object.entries(facts).map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt class="small muted">{name}</dt>
            <dd class="breaks">{typeof value === 'string' ? safeText(value) : value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

function Message({ title, message: { json, bytes, cut } }: Readonly<{ title: string; message: MessageReport }>) {
  return (
    <>
      <h3 class="mt-3 mb-1">
        {title} <span class="muted">{bytesInWords(bytes)}</span>
      </h3>
      {cut !== undefined && (
        <p class="muted">
          {cut.kept} of {cut.of} elements of its list are kept.
        </p>
      )}
      {json === undefined ? (
        <p class="muted">The message does not decode.</p>
      ) : (
        <Lines text={visibleLines(jsonText(json))} />
      )}
    </>
  )
}

function CallAgain({ detail, request }: Readonly<{ detail: RequestDetailReport; request: MessageReport }>) {
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
  const [sent, setSent] = useState<Readonly<{ status: number; text: string; ms: number }> | undefined>(undefined)
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
          <Lines text={visibleLines(sent.text)} />
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
      <Lines text={copiedAs(form, call)} data-form={form} />
    </details>
  )
}

/** Long text in a box that scrolls, which the keyboard reaches. */
const Lines = ({ text, ...rest }: { readonly text: string; readonly 'data-form'?: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard
  <pre tabIndex={0} {...rest}>
    {text}
  </pre>
)
