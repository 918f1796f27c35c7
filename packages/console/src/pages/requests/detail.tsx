/** One call: what was asked and answered, its rows and plan, and ways to make it again. */

import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { getJson } from '../../api/http.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { FigureTable } from '../../components/table.tsx'
import { jsonText } from '../../model/json-text.ts'
import { bytesInWords, durationInWords, inWords } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import { visibleLines } from '../../model/visible-text.ts'
import { CallAgain } from './call-again.tsx'
import {
  type MessageReport,
  type PlanStep,
  type RequestDetail,
  shortTransaction,
  type TableRows,
} from './requests-api.ts'

export interface DetailProps {
  readonly id: number
  readonly onClose: () => void
}

export function Detail({ id, onClose }: DetailProps) {
  const [detail, setDetail] = useState<RequestDetail | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  useEffect(() => {
    const gone = new AbortController()
    setDetail(undefined)
    setError(undefined)
    getJson<RequestDetail>(`/emulator/requests/${id}`, { signal: gone.signal }).then(setDetail, (reason: Error) => {
      if (!gone.signal.aborted) setError(reason)
    })
    return () => gone.abort()
  }, [id, epoch.value])
  return (
    <aside class="panel call-detail" aria-label={`Call ${id}`}>
      <header class="call-detail-head">
        <h2>{detail === undefined ? `Call ${id}` : detail.method}</h2>
        <Button label="Close" look="quiet" onClick={onClose} />
      </header>
      {error !== undefined && <ErrorNote error={error} what="The call cannot be shown" />}
      {detail !== undefined && <Whole detail={detail} />}
    </aside>
  )
}

function Whole({ detail }: { readonly detail: RequestDetail }) {
  const { request, response, plan, tables = [], waits = [], abortedBy, message } = detail
  return (
    <>
      <Facts detail={detail} />
      {message !== undefined && (
        <p class="error-note">
          <code>{detail.code}</code> <SafeText text={message} />
        </p>
      )}
      {waits.length > 0 && (
        <ul class="call-waits">
          {waits.map(({ afterMs, ms, row, for: holders }) => (
            <li key={afterMs}>
              Waited {durationInWords(ms)} for {holders.map(shortTransaction).join(', ')} at <SafeText text={row} />
            </li>
          ))}
        </ul>
      )}
      {abortedBy !== undefined && (
        <p>
          <span class="tag bad">victim</span> Its transaction gave way to {abortedBy.map(shortTransaction).join(', ')}.
        </p>
      )}
      {tables.length > 0 && <Rows tables={tables} />}
      {plan !== undefined && (
        <>
          <h3>Plan</h3>
          <div class="call-plan">
            <Plan step={plan.source} />
            {plan.results.map((line) => (
              <p key={line}>
                <SafeText text={line} />
              </p>
            ))}
          </div>
        </>
      )}
      {request !== undefined && <CallAgain detail={detail} request={request} />}
      {request !== undefined && <Message title="Request" message={request} />}
      {response !== undefined && <Message title="Response" message={response} />}
    </>
  )
}

function Facts({ detail }: { readonly detail: RequestDetail }) {
  const { code, ms, at, protocol, project, database, namespaces, kinds, key, keys, transaction } = detail
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Result', code],
    ['Began', at],
    ['Duration', durationInWords(ms)],
    ['Protocol', { grpc: 'gRPC', json: 'HTTP, JSON', protobuf: 'HTTP, protobuf' }[protocol]],
    ['Project', project],
    ['Database', database === undefined ? undefined : database || '(default)'],
    ['Namespace', namespaces?.join(', ')],
    ['Kind', kinds?.join(', ')],
    ['Keys', keys === undefined ? undefined : String(keys)],
  ]
  return (
    <dl class="call-facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <SafeText text={value} />
            </dd>
          </div>
        ),
      )}
      {key !== undefined && project !== undefined && (
        <div>
          <dt>{keys === 1 ? 'Key' : 'First key'}</dt>
          <dd>
            <a
              href={addressOf('entity', [project, key], {
                database: database || undefined,
                namespace: namespaces?.[0],
              })}
            >
              <SafeText text={key} />
            </a>
          </dd>
        </div>
      )}
      {transaction !== undefined && (
        <div>
          <dt>Transaction</dt>
          <dd>
            <a href={addressOf('requests', [], { transaction })}>{transaction}</a>
          </dd>
        </div>
      )}
    </dl>
  )
}

function Rows({ tables }: { readonly tables: readonly TableRows[] }) {
  return (
    <>
      <h3>Rows</h3>
      <FigureTable
        class="call-ledger"
        columns={['Table', 'Read', 'Written', 'Deleted']}
        rows={tables.map(({ table, rowsRead, rowsWritten, rowsDeleted }) => ({
          key: table,
          figures: [rowsRead, rowsWritten - rowsDeleted, rowsDeleted].map(inWords),
        }))}
      />
    </>
  )
}

function Plan({ step }: { readonly step: PlanStep }) {
  return (
    <ul>
      <li>
        <SafeText text={step.words} />
        {step.inputs.map((input, i) => (
          <Plan key={`${i} ${input.words}`} step={input} />
        ))}
      </li>
    </ul>
  )
}

function Message({
  title,
  message: { json, bytes, cut },
}: {
  readonly title: string
  readonly message: MessageReport
}) {
  return (
    <>
      <h3>
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard
        <pre tabIndex={0}>{visibleLines(jsonText(json))}</pre>
      )}
    </>
  )
}
