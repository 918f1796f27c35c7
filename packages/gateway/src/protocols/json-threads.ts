/**
 * Large messages between JSON and bytes, in a thread (json-thread.ts), for which other calls do not wait. They stand in two lines, each converted
 * one after the other, because each needs many times its bytes, and together they would end no sooner. An answer of 100 kB never waits for a
 * body of 10 MB, which takes a second.
 */
import { checkAlive, DatastoreError, type RequestContext } from '@sixtables/engine'
import type { MethodName } from '../methods.ts'
import { answerOfThread, builtFile } from '../threads.ts'

export interface ConversionTask {
  /** A function of json-codec.ts. */
  readonly conversion: 'requestFromJson' | 'answerToJson'
  readonly method: MethodName
  readonly bytes: Uint8Array
}

export type Converted =
  | { readonly made: Uint8Array }
  | { readonly refused: Pick<DatastoreError, 'code' | 'message' | 'retry' | 'committed' | 'details'> }

const threadFile = builtFile('protocols/json-thread.js')

/** The greatest message of the line of short ones. */
const shortBytesMax = 1024 * 1024

/** The end of the last conversion of each line in this process. */
const last: Record<'short' | 'long', Promise<unknown>> = { short: Promise.resolve(), long: Promise.resolve() }

/** `undefined` among the sources. @throws the error of the conversion; CANCELLED; INTERNAL if the thread breaks off, for example without memory */
export const convertInThread: ((task: ConversionTask, context: RequestContext) => Promise<Buffer>) | undefined =
  threadFile === undefined
    ? undefined
    : (task, context) => {
        const line = task.bytes.length <= shortBytesMax ? 'short' : 'long'
        const made = last[line].then(() => converted(threadFile, task, context, line))
        // Resolves to nothing: the bytes would stay in memory until the next one.
        last[line] = made.then(
          () => {},
          () => {},
        )
        return made
      }

async function converted(file: string, task: ConversionTask, context: RequestContext, line: string): Promise<Buffer> {
  checkAlive(context)
  // A copy: a part of a larger buffer would be sent with all of it.
  const own = { ...task, bytes: new Uint8Array(task.bytes) }
  const answer = await answerOfThread(file, own, context.signal, 'the JSON could not be converted', line)
  const { made, refused } = answer as Partial<
    Extract<Converted, { made: unknown }> & Extract<Converted, { refused: unknown }>
  >
  if (made !== undefined) return Buffer.from(made.buffer, made.byteOffset, made.byteLength)
  throw new DatastoreError(refused?.code ?? 'INTERNAL', refused?.message ?? '', refused)
}
