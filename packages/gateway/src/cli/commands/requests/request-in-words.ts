/** One call in words: its line, its messages as JSON, its plan, and the rows of each table. */
import { planText } from '@sixtables/engine'
import type { MessageReport, RequestDetailReport } from '../../../admin/emulator/request-routes.ts'
import { callLine } from '../../../calls/call-lines.ts'
import type { TableRows } from '../../../calls/request-recorder.ts'
import { counted } from '../../framework/print.ts'

export function requestInWords(detail: RequestDetailReport): readonly string[] {
  const { id, at, request, response, plan, tables = [] } = detail
  const lines = [`Call ${id} at ${at}`, callLine(detail)]
  if (request !== undefined) lines.push('', ...messageLines('Request', request))
  if (response !== undefined) lines.push('', ...messageLines('Response', response))
  if (plan !== undefined)
    lines.push(
      '',
      'Plan:',
      ...planText(plan)
        .split('\n')
        .map((line) => `  ${line}`),
    )
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
