/**
 * The JSON of a report, printed in steps of about 16 KiB: JSON.stringify() of a report with many megabytes would make all other calls wait.
 *
 *   {"table": "Entities", "rows": [ … ]}   ─▶   {"table":"Entities","rows":[   {…},{…},{…}   "a long text,   in parts"   ]}
 *
 * convert/json-steps.ts makes the text.
 */
import { giveWay, type RequestContext } from '@sixtables/engine'
import { charsOf, jsonSteps } from '../convert/json-steps.ts'

/** Shorter reports are one text. */
const wholeCharsMax = 64 * 1024
/** This many characters take as long to print as a row takes to read. */
const charsOfWork = 64

/** The bytes of a report and a line break. @throws CANCELLED if the client goes away meanwhile */
export async function reportBody(context: RequestContext, report: unknown): Promise<string | readonly Buffer[]> {
  if (charsOf(report, wholeCharsMax) < wholeCharsMax) return `${JSON.stringify(report)}\n`
  const body: Buffer[] = []
  for await (const piece of inBuffers(reportSteps(context, report))) body.push(piece)
  return [...body, Buffer.from('\n')]
}

/** A server-sent event with one report, in pieces. */
export async function* eventPieces(context: RequestContext, report: unknown): AsyncGenerator<Buffer> {
  yield Buffer.from('data: ')
  yield* inBuffers(reportSteps(context, report))
  yield Buffer.from('\n\n')
}

async function* reportSteps(context: RequestContext, report: unknown): AsyncGenerator<string> {
  for (const step of jsonSteps(report)) {
    yield step
    await giveWay(context, step.length / charsOfWork)
  }
}

/** The bytes of a text that comes in steps. */
export async function* inBuffers(steps: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let text = ''
  for await (const step of steps) {
    text += step
    if (text.length < wholeCharsMax) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}
