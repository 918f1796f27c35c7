/** `sixtables requests`: the newest calls of a running server, one call in detail, or each new call. */
import { planText } from '@sixtables/engine'
import type {
  MessageReport,
  RequestDetailReport,
  RequestEvent,
  RequestList,
} from '../../admin/emulator/request-routes.ts'
import { callLine } from '../../calls/call-summary.ts'
import { requestFilter } from '../../calls/request-filter.ts'
import type { RecordedRequest, TableRows } from '../../calls/request-recorder.ts'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'
import { text, wholeNumber } from '../framework/flag-values.ts'
import { counted } from '../framework/print.ts'
import { openEvents, serverAt, understood, untilStopped } from '../target/ask.ts'
import { ask } from '../target/ask-server.ts'
import { serverOf } from '../target/places.ts'

const filters = ['text', 'method', 'kind', 'code', 'slower', 'transaction', 'project', 'database', 'namespace']
const flagOf = (parameter: string): string => (parameter === 'slower' ? 'slower-than' : parameter)

export async function requests(flags: Flags, io: Io): Promise<number> {
  const query = new URLSearchParams()
  for (const parameter of filters) {
    const value = text(flags, flagOf(parameter))
    if (value !== undefined) query.set(parameter, value)
  }
  // As the server does, but with the names of flags in messages.
  understood(() => requestFilter(query, [], (parameter) => `--${flagOf(parameter)}`))
  const limit = wholeNumber(flags, 'limit', 1000)
  const id = flags['id']
  if (id !== undefined) {
    if (!/^\d+$/.test(String(id)))
      throw new UsageError(`a call has a number, as sixtables requests lists them; "${id}" is none`)
    if (query.size > 0 || limit !== undefined || flags['follow'] === true)
      throw new UsageError(`call ${id} is one: leave the other flags out`)
    const path = `/emulator/requests/${id}`
    return await ask<RequestDetailReport>(flags, io, { method: 'GET', path, inWords: requestInWords })
  }
  if (flags['follow'] === true) {
    if (limit !== undefined) throw new UsageError('--limit is for the list: leave it out with --follow')
    return await follow(flags, io, query)
  }
  if (limit !== undefined) query.set('limit', String(limit))
  return await ask<RequestList>(flags, io, {
    method: 'GET',
    path: `/emulator/requests?${query}`,
    inWords: (list) => listInWords(list),
  })
}

/** Oldest first, like the output of `--follow`. */
function listInWords({ recording, requests: found }: RequestList): readonly string[] {
  const lines = [...found].reverse().map(requestLine)
  if (recording || found.length > 0) return lines.length > 0 ? lines : ['No call matches so far.']
  return ['No calls are kept: watch with sixtables requests --follow, or start the server with --requests.']
}

/** `17  12:00:00.123  commit OK …`, in local time. */
function requestLine(request: RecordedRequest): string {
  const at = new Date(request.at)
  const time = `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`
  return `${request.id}  ${time}  ${callLine(request)}`
}

async function follow(flags: Flags, io: Io, query: URLSearchParams): Promise<number> {
  const { address } = await serverOf(flags, io)
  await untilStopped(io, 'the stream broke off', async ({ signal }) => {
    const events = await openEvents(serverAt(address), 'GET', `/emulator/requests/events?${query}`, signal)
    io.err(`sixtables: the calls of ${address} as they come; Ctrl-C ends it`)
    for await (const data of events) {
      const { requests: found, skipped } = JSON.parse(data) as RequestEvent
      if (skipped !== undefined) io.err(`sixtables: ${skipped} more calls came too fast to be shown`)
      for (const request of found) io.out(flags['json'] === true ? JSON.stringify(request) : requestLine(request))
    }
    io.err(`sixtables: the server on ${address} has ended`)
  })
  return exitCodes.ok
}

function requestInWords(detail: RequestDetailReport): readonly string[] {
  const { id, at, request, response, plan, tables = [] } = detail
  const lines = [`Call ${id} at ${at}`, callLine(detail)]
  if (request !== undefined) lines.push('', ...messageLines('Request', request))
  if (response !== undefined) lines.push('', ...messageLines('Response', response))
  if (plan !== undefined) lines.push('', 'Plan:', ...planText(plan).replace(/^/gm, '  ').split('\n'))
  if (tables.length > 0) lines.push('', 'Rows:', ...tables.map(tableLine))
  return lines
}

function messageLines(title: string, { json, bytes, cut }: MessageReport): readonly string[] {
  const some = cut === undefined ? '' : `, ${cut.kept} of ${cut.of} elements of its list are kept`
  const head = `${title}, ${counted(bytes, 'byte')}${some}:`
  return json === undefined ? [`${head} it does not decode`] : [head, ...JSON.stringify(json, null, 2).split('\n')]
}

function tableLine({ table, rowsRead, rowsWritten, rowsDeleted }: TableRows): string {
  const deleted = rowsDeleted === 0 ? '' : `, ${rowsDeleted} of them deleted`
  return `  ${table.padEnd(28)} ${rowsRead} read, ${rowsWritten} written${deleted}`
}
