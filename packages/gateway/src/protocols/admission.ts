/**
 * Admission control: limits on connections, calls and bytes over all clients together. Each limit has a flag, a default and an
 * answer (table: docs/reference/limits.md).
 *
 *   connections           a further connection is answered RESOURCE_EXHAUSTED and closed
 *   calls                 a further call is answered RESOURCE_EXHAUSTED
 *   unread answers        bytes of answers that clients have not read; above the limit, or after a time, the oldest one is cut off
 *   requests              bytes of requests that are arriving or being answered; the request that passes the limit is answered
 *                         RESOURCE_EXHAUSTED
 *
 * B1  The memory held for clients is bounded by these limits and by the limits of one call.          overload.test.ts
 * B2  A client that reads its answers and finishes its requests is answered, whatever others do.     overload.test.ts
 */
import { readFileSync } from 'node:fs'
import { DatastoreError } from '@sixtables/engine'
import { Looks } from './looks.ts'

export interface AdmissionLimits {
  /** `--max-connections` */
  readonly connectionsMax: number
  /** `--max-calls` */
  readonly callsMax: number
  /** `--max-unread-bytes` */
  readonly unreadBytesMax: number
  /** `--max-request-bytes` */
  readonly requestBytesMax: number
  /** Longest time that an answer may stay unread, counted in looks of 5 s. */
  readonly unreadMsMax: number
}

/** File descriptors for other uses: LevelDB keeps up to 1,000 files open. */
const otherDescriptors = 1100

export const admissionLimitsDefault: AdmissionLimits = {
  connectionsMax: 10_000,
  callsMax: 20_000,
  unreadBytesMax: 512 * 1024 * 1024,
  requestBytesMax: 512 * 1024 * 1024,
  unreadMsMax: 120_000,
}

/** The defaults, with connectionsMax reduced to the file descriptors that this process may have. */
export function admissionLimitsHere(): AdmissionLimits {
  const descriptors = descriptorsMax()
  if (descriptors === undefined) return admissionLimitsDefault
  const connections = Math.max(descriptors - otherDescriptors, Math.floor(descriptors / 2))
  return { ...admissionLimitsDefault, connectionsMax: Math.min(connections, admissionLimitsDefault.connectionsMax) }
}

/** The limit of this process; `undefined` on systems other than Linux. */
function descriptorsMax(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return found === undefined ? undefined : Number(found)
  } catch {
    return undefined
  }
}

/**
 * An answer that its client has not read yet, in a list from the oldest to the newest. An entry that leaves the list forgets its
 * neighbours: a Set, or links that were kept, would lead from dead entries in the old generation to all later ones, so that the garbage
 * collector's young generation would keep each answer (measured: 10 µs of a lookup's 47 after the first full collection).
 */
export interface Unread {
  readonly bytes: number
  /** Number of the look before it. */
  readonly since: number
  /** Ends it without its client having read it. */
  cut: (() => void) | undefined
  older: Unread | undefined
  newer: Unread | undefined
}

/** Interval of the looks at unread answers. */
const lookMs = 5000

export class Admission {
  readonly limits: AdmissionLimits
  calls = 0
  unreadBytes = 0
  #oldest: Unread | undefined
  #newest: Unread | undefined
  requestBytes = 0
  readonly #looks = new Looks(lookMs, () => this.#sweep())

  constructor(limits: AdmissionLimits = admissionLimitsHere()) {
    this.limits = limits
    this.#looks.begin()
  }

  /** Counts one more call; the caller must end it even if it is refused. @returns the reason of a refusal */
  beginCall(): DatastoreError | undefined {
    this.calls++
    const { callsMax } = this.limits
    if (this.calls <= callsMax) return undefined
    return exhausted(`${callsMax} calls are under way already`, '--max-calls')
  }

  /** Ends a call, with the bytes of its request that are still counted, and its answer. */
  endCall(requestBytes: number, unread: Unread | undefined): void {
    this.calls--
    this.requestBytes -= requestBytes
    if (unread !== undefined) this.read(unread)
  }

  tooManyConnections(): DatastoreError {
    return exhausted(`${this.limits.connectionsMax} connections are open already`, '--max-connections')
  }

  /** Counts an answer that was handed to the socket, until {@link read}. Cuts off the oldest ones above the limit. */
  hold(bytes: number, cut: () => void): Unread {
    const unread: Unread = { bytes, since: this.#looks.count, cut, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = unread
    else this.#newest.newer = unread
    this.#newest = unread
    this.unreadBytes += bytes
    while (this.#oldest !== undefined && this.unreadBytes > this.limits.unreadBytesMax) this.#cut(this.#oldest)
    return unread
  }

  /** The answer was sent, or its client has gone. May be called twice. */
  read(unread: Unread): void {
    if (unread.cut === undefined) return
    const { older, newer } = unread
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    unread.older = undefined
    unread.newer = undefined
    unread.cut = undefined
    this.unreadBytes -= unread.bytes
  }

  /** Counts more bytes of a request. @throws RESOURCE_EXHAUSTED, without counting them, above the limit */
  take(bytes: number): void {
    const { requestBytesMax } = this.limits
    if (this.requestBytes + bytes > requestBytesMax) {
      throw exhausted(`requests under way have ${requestBytesMax} bytes in all already`, '--max-request-bytes')
    }
    this.requestBytes += bytes
  }

  giveBack(bytes: number): void {
    this.requestBytes -= bytes
  }

  close(): void {
    this.#looks.end()
  }

  #cut(unread: Unread): void {
    const { cut } = unread
    this.read(unread)
    cut?.()
  }

  /** The first look after an answer does not count, because it may follow at once. */
  #sweep(): void {
    const last = this.#looks.count - 1 - this.#looks.of(this.limits.unreadMsMax)
    while (this.#oldest !== undefined && this.#oldest.since <= last) this.#cut(this.#oldest)
  }
}

function exhausted(found: string, flag: string): DatastoreError {
  return new DatastoreError(
    'RESOURCE_EXHAUSTED',
    `${found}; try again later, or start the server with a higher ${flag}`,
  )
}
