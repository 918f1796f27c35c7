/**
 * The newest calls of the data API, which show what a program really asks, and all of them as a stream for other programs.
 *
 *   GET /emulator/requests?kind=ToDo     the kept ones that match the filters, newest first
 *   GET /emulator/requests/events        server-sent events: calls that end from now on; calls are recorded while it is open
 *   GET /emulator/calls                  a recording (calls/recording.ts) as server-sent events, one line each
 */
import { invalidArgument, notFound, type PlanTree, systemScheduler } from '@sixtables/engine'
import type { Calls } from '../../calls/calls.ts'
import { silenceMs } from '../../calls/line-queue.ts'
import { recordLines } from '../../calls/recording.ts'
import { type RequestFilter, requestFilter } from '../../calls/request-filter.ts'
import {
  callsMax,
  type KeptMessage,
  type RecordedRequest,
  type RequestDetail,
  type RequestRecorder,
  type TableRows,
} from '../../calls/request-recorder.ts'
import { wholeNumber } from '../../convert/parameters.ts'
import { type DataMethod, methodNames } from '../../methods.ts'
import { type Json, printJson } from '../../protocols/json-text.ts'
import { eventOf, eventsOfLines, type Router } from '../../protocols/router.ts'

const limitDefault = 100
const batchEveryMs = 100
const batchMax = 100

export interface RequestList {
  readonly recording: boolean
  readonly requests: readonly RecordedRequest[]
}

export interface RequestEvent {
  readonly requests: readonly RecordedRequest[]
  /** Number of matching calls beyond the maximum of this event, which are left out. */
  readonly skipped?: number
  /** Id of the newest call before the stream; only in the first event. */
  readonly last?: number
}

export interface MessageReport {
  /** The message in JSON; absent if there was none, it is no longer kept, or it does not decode. */
  readonly json?: unknown
  readonly bytes: number
  /** Numbers of elements, if not all of its list are kept. */
  readonly cut?: { readonly kept: number; readonly of: number }
}

export interface RequestDetailReport extends RecordedRequest {
  readonly request?: MessageReport
  readonly response?: MessageReport
  readonly plan?: PlanTree
  readonly tables?: readonly TableRows[]
}

export function addRequestRoutes(router: Router, recorder: RequestRecorder, calls: Calls): void {
  router.add('GET', '/emulator/requests', ({ query }) => {
    const filter = requestFilter(query, ['limit', 'before'])
    const limit = wholeNumber('limit', query.get('limit'), { min: 1, max: callsMax }) ?? limitDefault
    const before = wholeNumber('before', query.get('before'))
    const { requests } = recorder.newest(filter, limit, before === undefined ? {} : { before })
    return { json: { recording: recorder.isRecording, requests } satisfies RequestList }
  })
  router.add('GET', '/emulator/requests/events', ({ query }) => {
    const filter = requestFilter(query)
    return { events: (signal) => eventsOf(recorder, filter, signal) }
  })
  router.add('GET', '/emulator/requests/{id}', async ({ parameters: { id = '' } }) => {
    const found = /^\d+$/.test(id) ? recorder.find(Number(id)) : undefined
    if (found === undefined) {
      throw notFound(`the request ${id} is not kept; the newest ${callsMax} are, while a reader watches`)
    }
    const detail = await detailInJson(found.summary.method, found.detail)
    // JSON.stringify() would print -0.0 as 0.
    return { jsonText: printJson({ ...found.summary, ...detail } as unknown as Json) }
  })
  router.add('DELETE', '/emulator/requests', () => {
    recorder.clear()
    return { json: {} }
  })
  router.add('GET', '/emulator/calls?values', ({ query }) => {
    const values = query.get('values') ?? 'false'
    if (values !== 'true' && values !== 'false') throw invalidArgument(`values is true or false, not "${values}"`)
    return { events: (signal) => eventsOfLines(recordLines(calls, { values: values === 'true' }, signal)) }
  })
}

async function* eventsOf(
  recorder: RequestRecorder,
  filter: RequestFilter | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const stop = recorder.watch()
  try {
    let last = recorder.lastId
    let passed = recorder.passed
    yield eventOf({ requests: [], last } satisfies RequestEvent)
    while (!signal.aborted) {
      const isSilent = !(await recorder.after(last, signal, silenceMs))
      const { requests: found, more } = recorder.newest(filter, batchMax, { after: last })
      last = recorder.lastId
      const requests = [...found].reverse()
      if (requests.length > 0) {
        const skipped = more + recorder.passed - passed
        passed = recorder.passed
        yield eventOf({ requests, ...(skipped === 0 ? {} : { skipped }) } satisfies RequestEvent)
      } else if (isSilent) yield Buffer.from(':\n\n')
      await systemScheduler.sleep(batchEveryMs, signal).catch(() => {})
    }
  } finally {
    stop()
  }
}

async function detailInJson(method: string, { request, answer, plan, tables }: RequestDetail) {
  const { requestMessageToJson, answerToJson } = await import('../../protocols/json-codec.ts')
  const name = methodNames[method as DataMethod]
  return {
    ...(request === undefined ? {} : { request: reportOf(request, (bytes) => requestMessageToJson(name, bytes)) }),
    ...(answer === undefined ? {} : { response: reportOf(answer, (bytes) => answerToJson(name, bytes)) }),
    ...(plan === undefined ? {} : { plan }),
    tables,
  }
}

function reportOf({ bytes, size, cut }: KeptMessage, print: (message: Buffer) => string): MessageReport {
  const report = { bytes: size, ...(cut === undefined ? {} : { cut }) }
  try {
    return { json: JSON.parse(print(bytes)), ...report }
  } catch {
    return report
  }
}
